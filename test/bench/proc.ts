/**
 * CPU time and memory of process trees, and how busy the machine is. Linux only: all of it is read from /proc.
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs'

/** Clock ticks a second in /proc (USER_HZ), 100 on every Linux that Node runs on. */
const TICKS = 100

interface Stat {
  readonly parent: number
  /** User and system time, with that of children that have ended, in ticks. */
  readonly ticks: number
}

function stat(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const at = (index: number): number => fields[index] ?? 0
    return { parent: at(1), ticks: at(11) + at(12) + at(13) + at(14) }
  } catch {
    return undefined
  }
}

/** The process and all its descendants. */
export function tree(root: number): number[] {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    const pid = Number(name)
    const found = Number.isInteger(pid) ? stat(pid) : undefined
    if (found !== undefined) children.set(found.parent, [...(children.get(found.parent) ?? []), pid])
  }
  const all = [root]
  for (const pid of all) all.push(...(children.get(pid) ?? []))
  return all
}

/** CPU seconds, user and system, that these processes have used so far. */
export function cpuSeconds(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + (stat(pid)?.ticks ?? 0), 0) / TICKS
}

/** CPU seconds that all processes of the machine have used so far. */
export function machineSeconds(): number {
  const line = readFileSync('/proc/stat', 'latin1').split('\n', 1)[0] ?? ''
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = line
    .trim()
    .split(/\s+/)
    .slice(1)
    .map(Number)
  return (user + nice + system + irq + softirq + steal) / TICKS
}

/** Resident memory of these processes, in KiB. */
export function residentKib(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    try {
      return sum + Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0)
    } catch {
      return sum
    }
  }, 0)
}
