/**
 * Whether a harness may run a tool of its own now: the one decision behind the permission prompt and the hook. It goes
 * through the ceiling, the gate and the cards like any call; what comes of it is a yes that is given once, or a no.
 * @module
 */
import type { Card, Cards } from '../approvals/cards.ts'
import { members } from '../json.ts'
import type { Session } from '../policy/words.ts'
import type { Gate, Passing } from './gate.ts'
import { SERVERS } from './harness-tools.ts'
import { noFor } from './harness-words.ts'
import type { Outcome } from './outcome.ts'
import type { Views } from './views.ts'

export interface HarnessParts {
  readonly gate: Pick<Gate, 'call'>
  readonly cards: Pick<Cards, 'delivered'>
  readonly views: Views
  /** Where a person decides, for the words of a pending call. */
  readonly inboxUrl: string
  /** Aborted when the gateway stops: who waits for a person is answered "pending" then. */
  readonly closing: AbortSignal
}

/** A built-in that is about to run. */
export interface Wish {
  readonly session: Session
  /** As the harness names it; anything but text is refused. */
  readonly name: unknown
  /** The JSON text of its input, an object; undefined where none came. */
  readonly inputText: string | undefined
  /** The call is held for a person. */
  readonly onHold?: (card: Card) => void
}

/** A yes holds for exactly this input, which is the approved one. */
export type Permission =
  | { readonly allow: true; readonly inputText: string }
  | { readonly allow: false; readonly message: string }

/** A wish being decided. `leave` ends the wait for a person, not the card. */
export interface Asking {
  readonly permission: Promise<Permission>
  leave(): void
}

export interface Harness {
  /** Never rejects: whatever fails is a no. */
  ask(wish: Wish): Asking
}

const no = (message: string): Permission => ({ allow: false, message })

const MALFORMED = no('invalid_arguments: Name the tool, and give its input as an object. Nothing may run on this.')
const BROKEN = no('internal: The gateway could not decide this call, so it may not run. Try again in a few seconds.')
/** How often an approval may turn out to be another's before this call gives up. */
const MOST_TRIES = 3

/** Builds the decision. */
export function createHarness(parts: HarnessParts): Harness {
  const waiting = new Set<() => void>()
  parts.closing.addEventListener('abort', () => {
    for (const leave of waiting) leave()
  })
  return {
    ask(wish) {
      let left = parts.closing.aborted
      let passing: Passing | undefined
      const leave = (): void => {
        left = true
        passing?.leave()
      }
      const call = (): Promise<Outcome> => {
        passing = callOf(parts, wish)
        if (left) passing.leave()
        return passing.outcome
      }
      waiting.add(leave)
      const permission = decideOn(parts, wish, call)
        .catch(() => BROKEN)
        .finally(() => waiting.delete(leave))
      return { permission, leave }
    },
  }
}

async function decideOn(parts: HarnessParts, wish: Wish, call: () => Promise<Outcome>): Promise<Permission> {
  const { session, name, inputText } = wish
  if (typeof name !== 'string' || name === '' || inputText === undefined || members(inputText) === undefined) {
    return MALFORMED
  }
  if (session.role.permissionPrompt !== true) {
    return no(`permission_denied: The role ${session.role.name} has no permission prompt, so nothing is allowed by it.`)
  }
  if (isOwn(parts, session, name)) return { allow: true, inputText }
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const outcome = await call()
    const card = 'card' in outcome ? outcome.card : undefined
    // Whoever takes a decided card first has its outcome; an approval is one yes, however many asked together.
    const taken = card === undefined || outcome.kind === 'pending' || (await parts.cards.delivered(card.id))
    if (outcome.kind !== 'answered') return no(noFor(outcome, name, parts.views.of(session).builtins, parts.inboxUrl))
    if (taken) return { allow: true, inputText: handedInput(outcome) ?? inputText }
  }
  return no('approval_pending: Other calls of the same input took the approval. Ask again for one of your own.')
}

/** One call of the gate. A name that is no built-in of the session is unknown there, and recorded as such. */
function callOf({ gate, views }: HarnessParts, { session, name, inputText, onHold }: Wish): Passing {
  const written = String(name)
  return gate.call({
    session,
    written,
    name: written,
    tool: views.of(session).builtinTools.get(written),
    argumentsText: inputText,
    extraText: '',
    metaText: '',
    elicitation: { form: false, url: false },
    onProgress: undefined,
    ask: () => Promise.resolve(new Map()),
    onHold: (card) => onHold?.(card),
  })
}

/** A tool of this gateway that the session holds: its call comes to the gate by itself. */
function isOwn({ views }: HarnessParts, session: Session, name: string): boolean {
  const prefix = SERVERS.map((server) => `mcp__${server}__`).find((start) => name.startsWith(start))
  return prefix !== undefined && views.of(session).byName.has(`mcp__${name.slice(prefix.length)}`)
}

/** The input that was approved, as the connector handed it on. */
function handedInput({ answer }: Extract<Outcome, { kind: 'answered' }>): string | undefined {
  if (answer.kind !== 'result') return undefined
  const text = `{${answer.metaText}}`
  const span = members(text)?.get(HANDED_INPUT)
  return span && text.slice(span.start, span.end)
}

/** The member of an answer's `_meta` that holds the input of a built-in. */
export const HANDED_INPUT = 'dev.tollgate/input'
