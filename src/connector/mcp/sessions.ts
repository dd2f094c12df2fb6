/**
 * Which upstream session a call uses. Where the upstream keeps no session per client all calls share one link; a legacy
 * HTTP upstream that hands out `Mcp-Session-Id` gets one session per caller, so that state is not mixed between them.
 * @module
 */
import type { ElicitationModes, UpstreamCall } from '../connector.ts'
import type { Greeted } from './handshake.ts'
import { type Link, retire } from './link.ts'

const IDLE_MS = 10 * 60_000
const MOST = 1_000
/** A broken stream of questions is opened again after this (ms). */
const REOPEN_MS = 1_000
/** Not every server says at once that its stream stands; a call does not wait longer for it (ms). */
const STREAM_MS = 500

export interface Sessions {
  /** The link for a call, at once where there is one; a sentence when there is none. */
  linkFor(call: UpstreamCall): Link | string | Promise<Link | string>
  /** Replaces a link whose session the upstream lost. Callers that lost the same one share one handshake. */
  renew(call: UpstreamCall, lost: Link): Promise<Link | string>
  /** Ends every session. */
  close(): Promise<void>
}

export interface SessionParts {
  /** The link that lists, once there is one. */
  readonly main: () => Link | string | Promise<Link | string>
  /** Makes another session with the upstream. */
  readonly greet: (modes: ElicitationModes) => Promise<Greeted>
  /** How long a session may be unused (ms, 10 minutes), and how many there are at most (1,000). */
  readonly idleMs?: number
  readonly most?: number
}

interface Seat {
  link: Link | undefined
  opening: Promise<Link | string> | undefined
  usedAt: number
}

/** Makes the keeper of one upstream's sessions. */
export function createSessions({ main, greet, idleMs = IDLE_MS, most = MOST }: SessionParts): Sessions {
  /** In order of use, the longest unused first. */
  const seats = new Map<string, Seat>()
  const sweeper = setInterval(sweep, idleMs / 10)
  sweeper.unref()

  function linkFor(call: UpstreamCall): Link | string | Promise<Link | string> {
    const link = main()
    return link instanceof Promise ? link.then((found) => seated(call, found)) : seated(call, link)
  }

  function seated(call: UpstreamCall, link: Link | string): Link | string | Promise<Link | string> {
    if (typeof link === 'string' || !isPerCaller(link)) return link
    const key = keyOf(call)
    const seat = seats.get(key) ?? { link: undefined, opening: undefined, usedAt: 0 }
    seats.delete(key)
    if (!makeRoom()) return `There are ${most} sessions with it already, all of them in use.`
    seats.set(key, seat)
    seat.usedAt = Date.now()
    return seat.link ?? open(seat, call)
  }

  function open(seat: Seat, call: UpstreamCall): Promise<Link | string> {
    seat.opening ??= begin(seat, call).finally(() => {
      seat.opening = undefined
    })
    return seat.opening
  }

  async function begin(seat: Seat, call: UpstreamCall): Promise<Link | string> {
    const greeted = await greet(call.elicitation)
    if ('failure' in greeted) return greeted.failure
    if (call.elicitation.form || call.elicitation.url) await listenForQuestions(greeted.link)
    seat.link = greeted.link
    return greeted.link
  }

  async function renew(call: UpstreamCall, lost: Link): Promise<Link | string> {
    const seat = seats.get(keyOf(call))
    if (seat === undefined) return linkFor(call)
    if (seat.link === lost) {
      seat.link = undefined
      retire(lost)
    }
    return seat.link ?? open(seat, call)
  }

  function makeRoom(): boolean {
    if (seats.size < most) return true
    for (const [key, seat] of seats) {
      if (seat.opening !== undefined || (seat.link?.calls ?? 0) > 0) continue
      leave(key, seat)
      return true
    }
    return false
  }

  function sweep(): void {
    const before = Date.now() - idleMs
    for (const [key, seat] of seats) {
      if (seat.usedAt > before || seat.opening !== undefined || (seat.link?.calls ?? 0) > 0) continue
      leave(key, seat)
    }
  }

  function leave(key: string, seat: Seat): void {
    seats.delete(key)
    if (seat.link !== undefined) retire(seat.link)
  }

  return {
    linkFor,
    renew,
    async close() {
      clearInterval(sweeper)
      const open = [...seats.values()]
      seats.clear()
      await Promise.all(open.map(({ link }) => link?.wire.close()))
    },
  }
}

const isPerCaller = (link: Link): boolean =>
  link.kind === 'http' && link.agreement?.era === 'legacy' && link.wire.hasSession

/** Sessions differ by caller, and by what the upstream was told a person can be asked. */
const keyOf = ({ session, elicitation }: UpstreamCall): string =>
  `${elicitation.form ? 'f' : '-'}${elicitation.url ? 'u' : '-'} ${session.id}`

/**
 * Keeps the stream open on which some servers ask, as long as the link is in use; an upstream without one says so.
 * Resolves when the stream stands, since what is asked before that is lost, or when it is clear that it may not come.
 */
function listenForQuestions(link: Link): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, STREAM_MS)
    const settled = (): void => {
      clearTimeout(timer)
      resolve()
    }
    link.wire.listen((problem) => {
      settled()
      if (link.retired || problem?.kind === 'refused' || problem?.kind === 'closed' || problem?.kind === 'garbled')
        return
      setTimeout(() => void (link.retired || listenForQuestions(link)), REOPEN_MS).unref()
    }, settled)
  })
}
