/**
 * Streamable HTTP to an upstream, in both eras: what headers go with which message, the legacy session, and taking up
 * a torn legacy stream. A request is never posted a second time from here.
 * @module
 */
import { Pool } from 'undici'
import { type AddressRules, allowedUrl, pinned } from './address.ts'
import type { Bearer } from './bearer.ts'
import { withBearer } from './carry.ts'
import { headerValue, MODERN } from './envelope.ts'
import type { Resolver } from './judge.ts'
import type { Snip } from './snippet.ts'
import { type Bookmark, type Leg, type Road, Trip } from './trip.ts'
import type { Exchange, Outgoing, Transport, Wire, WireEvents, WireProblem } from './wire.ts'

/** Most times in a row a torn answer stream is asked for again without anything new having come. */
const RESUMES = 2
/** How long to wait before that when the upstream says nothing, and at most (ms). */
const RESUME_WAIT_MS = 200
const RESUME_WAIT_MAX_MS = 5_000
/** Ending a session waits no longer than this for the upstream (ms). */
const FAREWELL_MS = 1_000

export interface HttpTarget {
  readonly url: string
  /** Configured headers, placeholders expanded. */
  readonly headers: Readonly<Record<string, string>>
  readonly rules: AddressRules
  readonly bearer?: Bearer
  /** How names are resolved; the system's own way when left out. */
  readonly resolver?: Resolver
  /** For a connection, and for a message that has no answer to be taken (ms). */
  readonly connectTimeoutMs: number
}

/** A configured header may be anything but what the protocol or the connection itself says. */
export const OWN_HEADER =
  /^(?:mcp-.*|content-type|content-length|accept|accept-encoding|host|connection|transfer-encoding|te|trailer|upgrade|keep-alive|expect|last-event-id)$/

/** Opens the way to one HTTP upstream. Throws AddressRefused for a URL that the rules forbid. */
export function createHttpTransport(target: HttpTarget, snip: Snip): Transport {
  const url = allowedUrl(target.url, target.rules)
  const plain = url.protocol === 'http:'
  const pool = new Pool(url.origin, {
    connections: null,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { lookup: pinned(plain, target.rules, target.resolver), timeout: target.connectTimeoutMs },
  })
  const road: Road = { pool: target.bearer ? withBearer(pool, target.bearer) : pool, origin: url.origin, snip }
  const fixed = fixedHeaders(target.headers)
  return {
    kind: 'http',
    label: url.origin + url.pathname,
    open: (events) => createHttpWire(road, url.pathname + url.search, fixed, target.connectTimeoutMs, events),
    close: () => pool.destroy(),
  }
}

/** Configured headers in lower case, each once, without those this gateway computes itself. */
function fixedHeaders(configured: Readonly<Record<string, string>>): string[] {
  const seen = new Map<string, string>()
  for (const [name, value] of Object.entries(configured))
    if (!OWN_HEADER.test(name.toLowerCase())) seen.set(name.toLowerCase(), value)
  return [...seen].flat()
}

function createHttpWire(road: Road, path: string, fixed: readonly string[], postMs: number, events: WireEvents): Wire {
  const trips = new Map<Trip, (problem: WireProblem) => void>()
  let version: string | undefined
  let session: string | undefined
  let base = baseHeaders()
  let closed = false

  function baseHeaders(): string[] {
    const headers = [...fixed, 'content-type', 'application/json', 'accept', 'application/json, text/event-stream']
    if (version !== undefined) headers.push('mcp-protocol-version', version)
    if (session !== undefined) headers.push('mcp-session-id', session)
    return headers
  }

  function headersOf(outgoing: Outgoing): string[] {
    const probe = version === undefined && outgoing.method === 'server/discover'
    if (version !== MODERN && !probe) return base
    const headers = [...base, 'mcp-method', outgoing.method]
    if (probe) headers.push('mcp-protocol-version', MODERN)
    if (outgoing.name !== undefined) headers.push('mcp-name', headerValue(outgoing.name))
    if (outgoing.headers !== undefined) headers.push(...outgoing.headers)
    return headers
  }

  /** Starts a trip; `ended` hears of its end, or of the wire's. */
  function travel(
    leg: Leg,
    awaits: number | undefined,
    hear: Exchange['onMessage'],
    ended: (problem: WireProblem | undefined, bookmark: Bookmark | undefined) => void,
    { opening = false, opened = () => {} } = {},
  ): Trip {
    const trip: Trip = new Trip(road, leg, {
      awaits,
      onSession: (id) => {
        // Only the answer to `initialize` hands out a session; later copies of the header change nothing.
        if (!opening || session !== undefined) return
        session = id
        base = baseHeaders()
      },
      onStream: opened,
      onMessage: hear,
      onEnd: (problem, bookmark) => {
        trips.delete(trip)
        ended(problem, bookmark)
      },
    })
    if (closed) ended(CLOSED, undefined)
    else {
      trips.set(trip, (problem) => ended(problem, undefined))
      trip.start()
    }
    return trip
  }

  function forget(trip: Trip): void {
    trips.delete(trip)
    trip.drop()
  }

  return {
    request(outgoing, exchange) {
      let trip: Trip
      let timer: NodeJS.Timeout | undefined
      let tries = 0
      let lastEventId = ''
      const ended = (problem: WireProblem | undefined, bookmark: Bookmark | undefined): void => {
        if (bookmark !== undefined && bookmark.lastEventId !== lastEventId) {
          lastEventId = bookmark.lastEventId
          tries = 0
        }
        const torn = problem?.kind === 'broken' || problem?.kind === 'unreachable'
        if (!torn || lastEventId === '' || version === MODERN || closed || tries >= RESUMES)
          return exchange.onEnd(lastEventId === '' ? problem : sure(problem))
        tries++
        timer = setTimeout(resume, Math.min(bookmark?.retryMs ?? RESUME_WAIT_MS, RESUME_WAIT_MAX_MS))
      }
      const resume = (): void => {
        const leg: Leg = {
          method: 'GET',
          path,
          headers: [...streamHeaders(base), 'last-event-id', lastEventId],
          body: null,
        }
        trip = travel(leg, outgoing.id, (message) => exchange.onMessage(message), ended)
      }
      const leg: Leg = { method: 'POST', path, headers: headersOf(outgoing), body: outgoing.text }
      trip = travel(leg, outgoing.id, (message) => exchange.onMessage(message), ended, {
        opening: outgoing.method === 'initialize',
      })
      return () => {
        clearTimeout(timer)
        forget(trip)
      }
    },

    post: (text) =>
      new Promise((resolve) => {
        const leg: Leg = { method: 'POST', path, headers: base, body: text }
        const trip = travel(leg, undefined, () => {}, done)
        const timer = setTimeout(() => {
          forget(trip)
          resolve({ kind: 'broken', reason: `It did not take a message within ${postMs} ms.`, ran: 'maybe' })
        }, postMs)
        function done(problem: WireProblem | undefined): void {
          // A wire that is closed already ends a trip before there is a timer.
          queueMicrotask(() => clearTimeout(timer))
          resolve(problem)
        }
      }),

    agree(agreed) {
      version = agreed
      base = baseHeaders()
    },

    get hasSession() {
      return session !== undefined
    },

    listen(ended, opened) {
      const leg: Leg = { method: 'GET', path, headers: streamHeaders(base), body: null }
      const trip = travel(leg, undefined, (message) => events.onMessage(message), ended, {
        ...(opened && { opened }),
      })
      return () => forget(trip)
    },

    async close() {
      if (closed) return
      closed = true
      for (const [trip, end] of trips) {
        trip.drop()
        end(CLOSED)
      }
      trips.clear()
      if (session !== undefined)
        await farewell(road, { method: 'DELETE', path, headers: streamHeaders(base), body: null })
    },
  }
}

const CLOSED: WireProblem = { kind: 'closed', reason: 'The connection was closed by this gateway.', ran: 'maybe' }

/** A request whose answer stream had begun may have run, however the attempts to take it up again ended. */
function sure(problem: WireProblem | undefined): WireProblem | undefined {
  return problem === undefined ? undefined : { ...problem, ran: 'maybe' }
}

/** The headers of a GET or DELETE: no content type, and streams only. */
function streamHeaders(base: readonly string[]): string[] {
  const headers: string[] = []
  for (let i = 0; i + 1 < base.length; i += 2) {
    const name = base[i] ?? ''
    if (name === 'content-type') continue
    headers.push(name, name === 'accept' ? 'text/event-stream' : (base[i + 1] ?? ''))
  }
  return headers
}

function farewell(road: Road, leg: Leg): Promise<void> {
  return new Promise((resolve) => {
    const trip = new Trip(road, leg, { awaits: undefined, onSession() {}, onMessage() {}, onEnd: done })
    const timer = setTimeout(() => {
      trip.drop()
      resolve()
    }, FAREWELL_MS)
    function done(): void {
      clearTimeout(timer)
      resolve()
    }
    trip.start()
  })
}
