/**
 * The measurements. Targets are visited in turn, slice by slice, so that what else goes on in the machine meets them all
 * alike, and ratios are formed within a round.
 * @module
 */
import { Client, resultOf } from './client.ts'
import { Connection } from './connection.ts'
import { drive, type Operation, type Slice } from './load.ts'
import type { DoorName, Target } from './targets.ts'

/** One kind of load. */
export interface Scenario {
  readonly key: string
  readonly title: string
  readonly door: DoorName
  readonly concurrency: number
  readonly does: 'call' | 'list' | 'open'
}

export const SCENARIOS: readonly Scenario[] = [
  { key: 'calls-16', title: 'calls, 16 at once', door: 'calls', concurrency: 16, does: 'call' },
  { key: 'calls-1', title: 'calls, one at a time', door: 'calls', concurrency: 1, does: 'call' },
  { key: 'calls-64', title: 'calls, 64 at once', door: 'calls', concurrency: 64, does: 'call' },
  { key: 'modern-16', title: 'calls of 2026-07-28, 16 at once', door: 'modern', concurrency: 16, does: 'call' },
  { key: 'list-500', title: 'tools/list of 500 tools, 8 at once', door: 'wide', concurrency: 8, does: 'list' },
  { key: 'open', title: 'sessions opened and ended, 8 at once', door: 'opening', concurrency: 8, does: 'open' },
]

/** How long everything takes, in milliseconds. */
export interface Pace {
  readonly rounds: number
  readonly sliceMs: number
  /** Driven before each slice and not counted: a process that stood idle is cold. */
  readonly leadMs: number
  /** Before the first scenario: V8 needs thousands of calls to settle. */
  readonly firstWarmUpMs: number
  readonly warmUpMs: number
  /** For slices run again because other programs were busy, in all. */
  readonly repeatMs: number
}

/** Slices by target name, one for each round. */
export type Rows = ReadonlyMap<string, readonly Slice[]>

/** A slice during which other programs used more cores than this is run again while there is time for it. */
const NOISY_CORES = 0.25

/** Runs every scenario; `say` is told of progress. */
export async function measureAll(
  targets: readonly Target[],
  pace: Pace,
  say: (line: string) => void,
): Promise<Map<string, Rows>> {
  const results = new Map<string, Rows>()
  let spareMs = pace.repeatMs
  for (const [index, scenario] of SCENARIOS.entries()) {
    const warmUpMs = index === 0 ? pace.firstWarmUpMs : pace.warmUpMs
    const started = performance.now()
    const lanes = []
    for (const target of targets) {
      const lane = await openLane(target, scenario)
      if (lane === undefined) continue
      lanes.push(lane)
      const { errors } = await drive(lane.operations, warmUpMs, target.accounts)
      if (errors.length > 0) throw new Error(`${target.name} failed at ${scenario.title}: ${errors[0]}`)
    }
    for (let round = 0; round < pace.rounds; round++) {
      for (let i = 0; i < lanes.length; i++) {
        const { target, operations, slices } = lanes[(i + round) % lanes.length]!
        const slice = async (): Promise<Slice> => {
          const { errors } = await drive(operations, pace.leadMs, target.accounts)
          const counted = await drive(operations, pace.sliceMs, target.accounts)
          return { ...counted, errors: [...errors, ...counted.errors] }
        }
        let best = await slice()
        while (best.foreignCores > NOISY_CORES && best.errors.length === 0 && spareMs > 0) {
          spareMs -= pace.leadMs + pace.sliceMs
          const again = await slice()
          if (again.foreignCores < best.foreignCores || again.errors.length > 0) best = again
        }
        slices.push(best)
      }
    }
    for (const lane of lanes) lane.close()
    results.set(scenario.key, new Map(lanes.map(({ target, slices }) => [target.name, slices])))
    say(`${scenario.title}: ${Math.round((performance.now() - started) / 1000)} s`)
  }
  return results
}

/** A target under one kind of load. */
export interface Lane {
  readonly target: Target
  readonly operations: readonly Operation[]
  readonly slices: Slice[]
  close(): void
}

/** Opens what a scenario drives; undefined where the target does not speak the era. */
export async function openLane(target: Target, { door: name, concurrency, does }: Scenario): Promise<Lane | undefined> {
  const door = target.doors[name]
  if (door === undefined) return undefined
  if (does === 'open') {
    const connections = Array.from({ length: concurrency }, () => new Connection(door.url))
    const operations = connections.map((connection) => async () => {
      const client = new Client(door, connection)
      await client.open()
      await client.list()
      await client.end()
    })
    return { target, operations, slices: [], close: closeAll(connections) }
  }
  const clients = Array.from({ length: concurrency }, () => new Client(door))
  for (const client of clients) await client.open()
  const operations = clients.map((client) => () => (does === 'call' ? client.call() : client.list()))
  return { target, operations, slices: [], close: closeAll(clients) }
}

const closeAll = (open: readonly { close(): void }[]) => (): void => {
  for (const one of open) one.close()
}

/** Throws unless every door of the target lists and answers what the upstream itself does. */
export async function checkAnswers(target: Target, direct: Target): Promise<void> {
  for (const [name, door] of Object.entries(target.doors)) {
    const [said, meant] = [await look(target, name as DoorName), await look(direct, name as DoorName)]
    const expected = name === 'wide' ? 500 : 10
    if (door.url.pathname !== '/mcp' && said.tools !== expected) {
      throw new Error(`${target.name} lists ${said.tools} tools at ${door.url.pathname}, not ${expected}.`)
    }
    if (said.content !== meant.content) throw new Error(`${target.name} answers otherwise than the upstream (${name}).`)
  }
}

async function look(target: Target, name: DoorName): Promise<{ tools: number; content: string }> {
  const client = new Client(target.doors[name]!)
  try {
    await client.open()
    const { tools } = resultOf(await client.list())
    const { content } = resultOf(await client.call())
    return { tools: tools.length, content: JSON.stringify(content) }
  } finally {
    client.close()
  }
}
