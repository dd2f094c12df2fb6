/**
 * Access tokens of connections, refreshed when they end: by one caller of one replica, however many want one. Before the
 * request leaves, the right to refresh is taken in the database; a refresh that never ended may have used up its token,
 * so a person is asked and nothing is tried twice.
 * @module
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Audit } from '../../../audit/audit.ts'
import { NoToken } from '../../../connector/mcp/bearer.ts'
import { type Granted, refresh } from '../../../connector/oauth/grant.ts'
import type { Reach } from '../../../connector/oauth/reach.ts'
import type { Database } from '../../../db/connect.ts'
import { type Seal, Unsealable } from '../../../db/seal.ts'
import type { Where } from '../rows.ts'
import {
  claimRefresh,
  type Consent,
  type Held,
  keepRefreshed,
  loseConsent,
  type NeedsConsent,
  openAt,
  readConsent,
  releaseRefresh,
  sealFor,
} from './consents.ts'

/** A claim of more is of a process that is gone. Longer than any answer takes, and its being kept. */
const LEASE_MS = 60_000
/** A token refused this soon after it came is not too old; another would be refused, too. */
const JUST_MS = 30_000
/** After a refresh that failed and may go well later, and after one that cannot until a person changes something. */
const PASSING_MS = 2_000
const WRONG_MS = 30_000
/** What is kept in memory is looked at again after so long. */
const KEEP_MS = 60_000
const MOST = 1_000

/** One consent of one connection. */
export interface Which extends Where {
  readonly consent: string
}

export interface Tokens {
  /** A token that is good now; where `refused` is given, another than that one. Rejects with NoToken. */
  of(which: Which, refused?: string): Promise<string>
  /** Waits for refreshes under way, so that none is left half done. */
  close(): Promise<void>
}

export interface TokenParts {
  readonly db: Database
  readonly audit: Audit
  readonly seal: Seal
  /** The way to the server of a connection's kind. */
  readonly reachOf: (which: Which) => Reach
  readonly needsConsent: NeedsConsent
  readonly leaseMs?: number | undefined
  readonly justMs?: number | undefined
}

/** Builds it. */
export function createTokens({ leaseMs = LEASE_MS, justMs = JUST_MS, ...parts }: TokenParts): Tokens {
  const { db, audit, seal } = parts
  const me = randomUUID()
  const kept = new Map<string, { readonly token: string; readonly until: number }>()
  const pauses = new Map<string, { readonly until: number; readonly said: string }>()
  const flights = new Map<string, Promise<string>>()
  let closing = false

  async function find(which: Which, key: string, refused: string | undefined): Promise<string> {
    const giveUp = performance.now() + leaseMs
    for (let pause = 25; ; pause = Math.min(pause * 1.5, 250)) {
      const consent = await readConsent(db, which, which.consent)
      if (consent === undefined) throw new NoToken(NEEDED)
      const held = await openAt<Held>(seal, which, consent.sealed)
      const lives = held.accessToken !== refused && isAhead(consent.livesMs)
      if (lives && isAhead(consent.freshMs)) return keep(key, held.accessToken, consent.freshMs)
      const isYoung = consent.ageMs < justMs && isAhead(consent.livesMs)
      if (held.accessToken === refused && isYoung) return held.accessToken
      const paused = pauses.get(key)
      if (held.refreshToken === undefined) {
        if (isAhead(consent.livesMs)) return held.accessToken
        return lose(consent, 'The access token has ended, and no refresh token was given.')
      }
      if (paused !== undefined && paused.until > performance.now()) {
        if (lives) return held.accessToken
        throw new NoToken(paused.said)
      }
      if (consent.claimedMs === undefined) {
        if (await claimRefresh(db, consent, me)) return renew(consent, held, key, lives)
      } else if (consent.claimedMs > leaseMs) {
        if (consent.rotates !== false) return lose(consent, 'A refresh was cut off, and its token may be used up.')
        await releaseRefresh(db, consent, undefined)
      } else if (lives) return held.accessToken
      else if (closing || performance.now() > giveUp)
        throw new NoToken('Its token is being refreshed elsewhere; call again.')
      else await sleep(pause)
    }
  }

  /** With the right to refresh in hand. */
  async function renew(consent: Consent, held: Held, key: string, lives: boolean): Promise<string> {
    const before = held.refreshToken as string
    const granted = await refresh(parts.reachOf({ ...consent, consent: consent.id }), held.plan, before)
    if (!granted.ok) return failed(granted, consent, held, key, lives)
    const { expiresInS, ...tokens } = granted.tokens
    const { refreshToken = before, scope = held.scope } = tokens
    const sealed = await sealFor(seal, consent, { ...held, ...tokens, refreshToken, scope })
    const rotates = refreshToken !== before
    const isKept = await insist(() => keepRefreshed(audit, consent, me, { sealed, rotates, expiresInS }))
    if (!isKept) throw new NoToken('The connection was changed meanwhile; call again.')
    pauses.delete(key)
    return keep(key, tokens.accessToken, expiresInS === undefined ? undefined : expiresInS * 900)
  }

  async function failed(
    { kind, said }: Extract<Granted, { ok: false }>,
    consent: Consent,
    held: Held,
    key: string,
    lives: boolean,
  ): Promise<string> {
    if (kind === 'refused') return lose(consent, said)
    await insist(() => releaseRefresh(db, consent, me))
    const words = `Its token could not be refreshed. ${said}`
    pauses.set(key, { until: performance.now() + (kind === 'passing' ? PASSING_MS : WRONG_MS), said: words })
    if (lives) return held.accessToken
    throw new NoToken(words)
  }

  async function lose(consent: Consent, because: string): Promise<never> {
    await insist(() => loseConsent(audit, consent, because, parts.needsConsent))
    throw new NoToken(NEEDED)
  }

  /** A database that is away for a moment must not cost a consent: it is asked until the claim would be given up. */
  async function insist<T>(work: () => Promise<T>): Promise<T> {
    const giveUp = performance.now() + leaseMs * 0.8
    for (;;) {
      try {
        return await work()
      } catch (error) {
        if (performance.now() > giveUp) throw error
        await sleep(Math.min(200, leaseMs / 10))
      }
    }
  }

  function keep(key: string, token: string, freshMs: number | undefined): string {
    kept.delete(key)
    kept.set(key, { token, until: performance.now() + Math.min(freshMs ?? KEEP_MS, KEEP_MS) })
    if (kept.size > MOST) kept.delete(kept.keys().next().value as string)
    return token
  }

  function fly(which: Which, key: string, refused: string | undefined): Promise<string> {
    const flight = find(which, key, refused)
      .catch((error: unknown) => {
        if (error instanceof NoToken) throw error
        if (error instanceof Unsealable) throw new NoToken(error.message)
        throw new NoToken('The gateway cannot read its tokens right now.')
      })
      .finally(() => flights.delete(key))
    flights.set(key, flight)
    return flight
  }

  return {
    async of(which, refused) {
      const key = JSON.stringify([which.brand, which.slug, which.consent])
      const one = kept.get(key)
      if (one !== undefined && one.token !== refused && one.until > performance.now()) return one.token
      const under = flights.get(key)
      if (under === undefined) return fly(which, key, refused)
      const token = await under
      return token === refused ? (flights.get(key) ?? fly(which, key, refused)) : token
    },
    async close() {
      closing = true
      await Promise.allSettled(flights.values())
      kept.clear()
    },
  }
}

const NEEDED = 'A person has to consent to this connection again.'

/** Nobody said when it ends: it is good until it is refused. */
const isAhead = (ms: number | undefined): boolean => ms === undefined || ms > 0
