/**
 * Carries out approved cards whose caller is not there: an approved action happens once, whoever listens.
 * A caller who waits runs its own card, so a card is left alone for a moment first.
 * @module
 */
import type { Card, Cards } from '../approvals/cards.ts'
import type { Session } from '../policy/words.ts'
import type { Gate } from './gate.ts'
import { HARNESS } from './harness-tools.ts'

export interface RunnerParts {
  readonly cards: Cards
  readonly gate: Gate
  /** The session of a card, from its record; undefined when it is gone or says more than its role allows today. */
  readonly sessionOf: (sessionId: string) => Promise<Session | undefined>
  readonly log: { warn(fields: object, message: string): void }
  /** How long a waiting caller has the first chance, in milliseconds. */
  readonly graceMs?: number
  /** How often approved cards are looked for, in milliseconds, behind the notices. */
  readonly pollMs?: number
  /** How long the approval of a built-in waits for its harness, which alone can run it, in milliseconds. */
  readonly handoverMs?: number
}

/** Starts the runner; the returned function stops it and waits for what it runs. */
export function startRunner({
  cards,
  gate,
  sessionOf,
  log,
  graceMs = 400,
  pollMs = 2_000,
  handoverMs = 60 * 60_000,
}: RunnerParts): () => Promise<void> {
  const timers = new Set<NodeJS.Timeout>()
  const under = new Map<string, Promise<void>>()
  const stopListening = cards.onEvent((event) => {
    if (event.kind === 'listening') void look()
    else if (event.status === 'approved') later(event.id)
  })
  const poll = setInterval(look, pollMs)

  function later(id: string): void {
    const timer = setTimeout(() => {
      timers.delete(timer)
      start(id)
    }, graceMs)
    timers.add(timer)
  }

  function start(id: string): void {
    if (under.has(id) || cards.waiting(id)) return
    const run = carryOut(id)
      .catch((problem: unknown) => log.warn({ card: id, problem: String(problem) }, 'an approved card did not run yet'))
      .finally(() => under.delete(id))
    under.set(id, run)
  }

  async function carryOut(id: string): Promise<void> {
    const card = await cards.get(id)
    if (card?.status !== 'approved') return
    if (card.connector !== HARNESS) await gate.runApproved(card, await sessionOf(card.sessionId))
    else if (isOld(card)) await cards.refuse(card.id, { code: 'approval_expired' })
  }

  function isOld({ connector, decidedAt, createdAt }: Card): boolean {
    const age = Date.now() - Date.parse(decidedAt ?? createdAt)
    return age > (connector === HARNESS ? handoverMs : graceMs)
  }

  async function look(): Promise<void> {
    let cursor: string | undefined
    do {
      const more = cursor === undefined ? {} : { cursor }
      const page = await cards.list({ status: 'approved', limit: 200, ...more }).catch(() => undefined)
      for (const { id } of page?.items.filter(isOld) ?? []) start(id)
      cursor = page?.nextCursor
    } while (cursor !== undefined)
  }

  return async () => {
    stopListening()
    clearInterval(poll)
    for (const timer of timers) clearTimeout(timer)
    await Promise.allSettled(under.values())
  }
}
