/**
 * A call of a session that works for a routine: traced from before it is decided, asked about when it comes again and
 * again, and on the record by the seed's own word where it is outside the routine's policy.
 * @module
 */
import type { AuditEntry } from '../audit/audit.ts'
import { split } from '../policy/names.ts'
import { fingerprint } from './facts.ts'
import type { GateParts } from './gate.ts'
import { type Outcome, unrecordable } from './outcome.ts'
import type { Asked } from './passing.ts'
import { EQUAL_MINUTES, type Traces } from './traces.ts'

export interface RoutineGate {
  readonly traces: Traces
  /** How many equal calls of one tool run before a person is asked. */
  readonly equalCalls: number
}

/** Takes a call through `pass`, which is told when it came too often. Without a trace nothing runs. */
export async function passTraced(
  parts: GateParts,
  asked: Asked,
  pass: (repeated: string | undefined) => Promise<Outcome>,
): Promise<Outcome> {
  const { session, tool, argumentsText, extraText } = asked
  const { routines } = parts
  if (routines === undefined) return unrecordable()
  const name = tool?.name ?? (split(asked.name) === undefined ? asked.written : asked.name).slice(0, 128)
  const print = tool && fingerprint(tool, argumentsText, extraText)
  const call = { session, tool: name, digest: tool?.digest, fingerprint: print, argumentsText }
  const begun = await routines.traces.begin(call).catch(() => undefined)
  if (begun === undefined) return unrecordable()
  const open = await isWithPerson(parts, asked, print).catch(() => undefined)
  if (open === undefined) return unrecordable()
  const often = begun.equal <= routines.equalCalls ? undefined : repeatedWords(begun.equal)
  const outcome = await pass(often ?? (open ? WITH_PERSON : undefined))
  if (outcome.kind === 'refused' && outcome.code === 'unknown_tool') recordDenied(parts, asked, name)
  await routines.traces.end(begun.id, outcome).catch(() => {})
  return outcome
}

/** Whether this very call waits for a person, or ended there and was not collected: then it is that card's, and runs once. */
async function isWithPerson({ cards }: GateParts, { session }: Asked, print: string | undefined): Promise<boolean> {
  if (print === undefined || session.channel === 'none') return false
  return (await cards.latest(session.id, print)) !== undefined
}

const WITH_PERSON = 'This very call is with a person already.'

const repeatedWords = (equal: number): string =>
  `This is the same call for the ${equal}th time within ${EQUAL_MINUTES} minutes, so a person looks at it.`

/** Names routine, tool and why (seed 002, "What the model actually sees"). The model is told no more than of any name. */
function recordDenied({ audit, views, registry }: GateParts, { session }: Asked, tool: string): void {
  const reasons = views.of(session).refused.get(tool)
  const slug = split(tool)?.connector
  const closed =
    slug &&
    registry
      .find(slug, session.brand)
      ?.closed?.()
      .find((one) => one.tool.name === tool)
  const why = reasons?.map(({ because }) => because).join(' ') ?? (closed ? closed.reason : NOWHERE)
  const { id: sessionId, brand, subject, role, routine } = session
  const row: AuditEntry = {
    kind: 'tool_denied',
    brand,
    sessionId,
    subject,
    role: role.name,
    tool,
    routine: routine?.id,
  }
  try {
    audit.record({ ...row, code: 'unknown_tool', outcome: 'refused', reason: why })
  } catch {
    // The queue is full: the next call is refused at the gate.
  }
}

const NOWHERE = 'No connection of the routine has a tool of this name.'
