/**
 * The guard: which tools of an upstream are as they were accepted, and what of a listing is to be written down. A changed
 * tool must be accepted again before anybody sees or calls it, and so must a new one.
 * @module
 */

/** What is kept of one tool. Digests are of canonical definitions: another order of keys is no other digest. */
export interface Pin {
  /** Of the definition that was accepted; undefined while none was. */
  readonly digest: string | undefined
  /** Of the same without its name. */
  readonly body: string | undefined
  /** Whether the kept definition still hashes to its digest. */
  readonly intact: boolean
  /** Of what was seen last and is not accepted. */
  readonly seen: string | undefined
}

/** All pins of an upstream by tool; undefined before its first discovery. */
export type Pins = ReadonlyMap<string, Pin> | undefined

/** A tool as its upstream lists it. */
export interface ListedTool {
  readonly tool: string
  readonly digest: string
  /** Digest of the definition without its name. */
  readonly body: () => string
}

/**
 * `open`: as accepted. `undiscovered`: nothing of the upstream was kept yet. `changed`: not what was accepted, here or on
 * another replica. `new`: never accepted; `renamedFrom` where a pinned tool that is gone had the same body. `corrupt`: what
 * was accepted cannot be known any more. Only `open` opens.
 */
export type PinState = 'open' | 'undiscovered' | 'changed' | 'new' | 'corrupt'

export interface Verdict {
  readonly state: PinState
  readonly renamedFrom?: string
}

/** Judges every listed tool. Whatever is not known for certain to be as it was accepted is closed. */
export function judge(pins: Pins, listed: readonly ListedTool[]): ReadonlyMap<string, Verdict> {
  const gone = goneBodies(pins, listed)
  return new Map(listed.map((tool) => [tool.tool, judgeOne(pins, tool, gone)]))
}

function judgeOne(pins: Pins, { tool, digest, body }: ListedTool, gone: ReadonlyMap<string, string>): Verdict {
  if (pins === undefined) return { state: 'undiscovered' }
  const pin = pins.get(tool)
  if (pin === undefined || (pin.digest === undefined && pin.intact)) {
    const from = gone.size === 0 ? undefined : gone.get(body())
    return { state: 'new', ...(from === undefined ? {} : { renamedFrom: from }) }
  }
  if (pin.intact !== true || pin.digest === undefined) return { state: 'corrupt' }
  if (pin.digest !== digest || pin.seen !== undefined) return { state: 'changed' }
  return { state: 'open' }
}

/** Bodies of pinned tools that are not listed any more, with their names. */
function goneBodies(pins: Pins, listed: readonly ListedTool[]): ReadonlyMap<string, string> {
  const there = new Set(listed.map(({ tool }) => tool))
  const found = new Map<string, string>()
  for (const [tool, { body, digest, intact }] of pins ?? []) {
    if (!there.has(tool) && intact && digest !== undefined && body !== undefined) found.set(body, tool)
  }
  return found
}

/** What a listing adds to the pins. */
export interface Plan {
  /** Everything is accepted: nothing of this upstream was kept before. */
  readonly first: boolean
  /** New tools to be accepted at once, where the operator wants that. */
  readonly accepted: readonly string[]
  /** Tools that are not as they were accepted. */
  readonly changed: readonly string[]
  /** Tools that nobody accepted yet and that were not seen like this. */
  readonly fresh: readonly string[]
  /** Tools that are as they were accepted again. */
  readonly back: readonly string[]
  /** Tools that nobody ever accepted and that are gone. */
  readonly vanished: readonly string[]
}

/** As many tools that nobody accepted are kept of one upstream; the others are closed without a row. */
export const MOST_FRESH = 200

/**
 * What is to be written down of a complete listing. `before` are the digests of this replica's listing before, undefined
 * for the first and for one that a person asked for: a tool that another replica saw changed is only said to be back by a
 * replica that saw it change back.
 */
export function plan(
  pins: Pins,
  listed: readonly ListedTool[],
  before: ReadonlyMap<string, string> | undefined,
  newTools: 'open' | 'closed',
): Plan {
  const none = { first: false, accepted: [], changed: [], fresh: [], back: [], vanished: [] }
  if (pins === undefined) return { ...none, first: listed.length > 0 }
  const there = new Set(listed.map(({ tool }) => tool))
  const vanished = [...pins].filter(([tool, { digest, intact }]) => digest === undefined && intact && !there.has(tool))
  let room = MOST_FRESH - [...pins.values()].filter(({ digest }) => digest === undefined).length + vanished.length
  const accepted: string[] = []
  const changed: string[] = []
  const fresh: string[] = []
  const back: string[] = []
  for (const { tool, digest } of listed) {
    const pin = pins.get(tool)
    const edge = before?.get(tool) !== digest
    if (pin === undefined || (pin.digest === undefined && pin.intact)) {
      if (newTools === 'open') accepted.push(tool)
      else if (pin === undefined ? room-- > 0 : edge && pin.seen !== digest) fresh.push(tool)
    } else if (pin.intact !== true) continue
    else if (pin.digest === digest) {
      if (pin.seen !== undefined && edge) back.push(tool)
    } else if (pin.seen === undefined || (edge && pin.seen !== digest)) changed.push(tool)
  }
  return { first: false, accepted, changed, fresh, back, vanished: vanished.map(([tool]) => tool) }
}

/** Whether a plan asks for anything. */
export const isIdle = ({ first, accepted, changed, fresh, back, vanished }: Plan): boolean =>
  !first && accepted.length + changed.length + fresh.length + back.length + vanished.length === 0
