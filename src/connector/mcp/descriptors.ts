/**
 * Open files that whoever started the gateway left open in it. Node closes its own when a child starts, but not these.
 * @module
 */
import { closeSync, readdirSync, readFileSync } from 'node:fs'

/** The bit of a descriptor that is closed when a child starts; all that Node opens have it. */
const CLOSE_ON_EXEC = 0o2000000

/**
 * The descriptors above 2 that a child would inherit. Only Linux says so (`/proc`); empty elsewhere.
 */
export function inheritable(): number[] {
  try {
    return readdirSync('/proc/self/fdinfo')
      .map(Number)
      .filter((fd) => fd > 2 && !closesOnExec(fd))
  } catch {
    return []
  }
}

/** Closes them, so that no stdio upstream gets one. For the start of the program, before it opens anything. */
export function closeInherited(): void {
  for (const fd of inheritable()) closeSync(fd)
}

function closesOnExec(fd: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1]
    return flags === undefined || (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) !== 0
  } catch {
    // Closed meanwhile: the one the folder was read with.
    return true
  }
}
