/**
 * Sends what the outbox holds. Any number of replicas may do so at once: each claims its own. Woken by the database's
 * notices, with a poll behind them; a receiver that is slow or away holds up its own deliveries and nothing else.
 * @module
 */
import type { Audit } from '../../audit/audit.ts'
import type { Database } from '../../db/connect.ts'
import type { Log } from '../../db/log.ts'
import type { Attempts, Tried } from './attempt.ts'
import { type Claimed, claim, giveBack, pauseForGood, prune, recordAttempt } from './claim.ts'
import { pauseAfter } from './schedule.ts'

export interface SenderParts {
  readonly db: Database
  readonly audit: Audit
  readonly log: Log
  readonly attempts: Attempts
  /** How often it looks where no notice came (ms). */
  readonly pollMs?: number
  /** From 0 to 1. */
  readonly random?: () => number
}

export interface Sender {
  /** Looks for what is due, now. */
  wake(): void
  /** Makes one attempt at a delivery that was claimed, and records it. `once`: it is not tried again. */
  deliver(claimed: Claimed, once?: boolean): Promise<Tried>
  /** Cuts what is under way, which comes due again at once, and waits for that to be recorded. */
  close(): Promise<void>
}

const POLL_MS = 2_000
const PRUNE_MS = 3_600_000
/** Most attempts at once. */
const AT_ONCE = 64
/** Attempts under way get so long to end when the process stops (ms). */
const GRACE_MS = 1_000

/** Starts sending. */
export function createWebhookSender(parts: SenderParts): Sender {
  const { db, audit, log, attempts, pollMs = POLL_MS, random = Math.random } = parts
  const closing = new AbortController()
  const underWay = new Set<Promise<unknown>>()
  /** How many attempts each webhook has under way here. */
  const busy = new Map<string, number>()
  let looking: Promise<void> | undefined
  let again = false
  let closed = false
  let silent = false

  const poll = setInterval(wake, pollMs)
  const pruning = setInterval(() => void prune(db).catch(() => {}), PRUNE_MS)
  const listening = db
    .listen(({ kind }) => (kind === 'webhook' || kind === 'listening' ? wake() : undefined))
    .catch((error: unknown) => {
      log.warn({ err: error }, 'Webhooks do not hear the database’s notices, so they are sent some seconds late.')
      return async () => {}
    })

  function wake(): void {
    again = true
    if (closed) return
    looking ??= look().finally(() => {
      looking = undefined
    })
  }

  async function look(): Promise<void> {
    while (again && !closed) {
      again = false
      const most = AT_ONCE - underWay.size
      if (most <= 0) return
      try {
        for (const claimed of await claim(db, most, [...busy.keys()])) start(claimed)
        silent = false
      } catch (error) {
        if (!silent) log.warn({ err: error }, 'Webhooks cannot be sent: the database does not answer. Trying again.')
        silent = true
      }
    }
  }

  function start(claimed: Claimed): void {
    const { webhook } = claimed
    busy.set(webhook, (busy.get(webhook) ?? 0) + 1)
    const done = deliver(claimed)
      .catch((error: unknown) => {
        // It comes due again when its lease is over, and goes out once more under the same id.
        log.warn({ err: error, delivery: claimed.id }, 'A webhook’s delivery could not be recorded.')
      })
      .finally(() => {
        const left = (busy.get(webhook) ?? 1) - 1
        if (left > 0) busy.set(webhook, left)
        else busy.delete(webhook)
        underWay.delete(done)
        wake()
      })
    underWay.add(done)
  }

  async function deliver(claimed: Claimed, once = false): Promise<Tried> {
    const tried = await attempts.attempt(claimed, closing.signal)
    const { answer, problem, askedMs = 0, gone = false, cut = false } = tried
    if (cut && !once) await giveBack(db, claimed)
    else if (gone && !once) await end(claimed, answer ?? 0, problem ?? '')
    else {
      const againInMs = once || problem === undefined ? undefined : pauseAfter(claimed.attempts, random(), askedMs)
      const recorded = await recordAttempt(db, claimed, { answer, problem, againInMs })
      if (recorded && !once && problem !== undefined && againInMs === undefined) {
        const facts = { webhook: claimed.webhook, delivery: claimed.id, event: claimed.event, problem }
        log.warn(facts, 'A webhook’s delivery was given up.')
      }
    }
    return tried
  }

  async function end(claimed: Claimed, answer: number, problem: string): Promise<void> {
    await audit.transaction(async (tx, record) => {
      if (!(await pauseForGood(tx, claimed, answer, problem))) return
      record({ kind: 'webhook.changed', subject: claimed.webhook, by: 'its receiver', reason: `paused: ${problem}` })
    })
    log.warn({ webhook: claimed.webhook }, 'A webhook was paused: its receiver answered 410.')
  }

  wake()
  return {
    wake,
    deliver,
    async close() {
      closed = true
      clearInterval(poll)
      clearInterval(pruning)
      await (await listening)()
      await looking
      const timer = setTimeout(() => closing.abort(), GRACE_MS)
      await Promise.all(underWay)
      clearTimeout(timer)
      await attempts.close()
    },
  }
}
