/**
 * One HTTP request to an upstream and the messages it brings back, as JSON or as an event stream.
 * Bytes come straight from undici's dispatcher: no fetch and no web streams, which cost several times the call itself.
 * @module
 */
import { createParser, type EventSourceParser } from 'eventsource-parser'
import { TextDecoder } from 'node:util'
import type { Dispatcher } from 'undici'
import { AddressRefused } from './address.ts'
import { NoToken } from './bearer.ts'
import { answers, type Message, readMessages } from './message.ts'
import type { Snip } from './snippet.ts'
import { MESSAGE_LIMIT, type WireProblem } from './wire.ts'

/** Most bytes read of a refusal, which is only looked at. */
const REFUSAL_LIMIT = 64 * 1024
/** How long a stream may stay open after its answer before its connection is given up (ms). */
const LINGER_MS = 1_000

export interface Leg {
  readonly method: 'POST' | 'GET' | 'DELETE'
  readonly path: string
  /** Names and values in turn. */
  readonly headers: string[]
  readonly body: string | null
}

/** Where a broken event stream may be taken up again. */
export interface Bookmark {
  readonly lastEventId: string
  readonly retryMs: number | undefined
}

/** Who hears what a trip brings. */
export interface Traveller {
  /** The id whose answer ends the trip; undefined when none is expected. */
  readonly awaits: number | undefined
  onSession(id: string): void
  /** An event stream stands. */
  onStream?(): void
  onMessage(message: Message): void
  /** Once and last. `bookmark` where an event stream with ids ended before the awaited answer. */
  onEnd(problem: WireProblem | undefined, bookmark: Bookmark | undefined): void
}

/** What upstreams of one origin share. */
export interface Road {
  readonly pool: Pick<Dispatcher, 'dispatch'>
  readonly origin: string
  readonly snip: Snip
}

type Body = 'unread' | 'json' | 'events' | 'refusal' | 'other' | 'moved'

/** A request under way. It holds a connection until it ends or is dropped. */
export class Trip implements Dispatcher.DispatchHandler {
  readonly #road: Road
  readonly #traveller: Traveller
  #leg: Leg
  #controller: Dispatcher.DispatchController | undefined
  #over = false
  #dropped = false
  #redirected = false
  #movedTo: string | undefined
  #status = 0
  #body: Body = 'unread'
  #parts: Buffer[] = []
  #size = 0
  #parser: EventSourceParser | undefined
  #decoder: TextDecoder | undefined
  #lastEventId: string | undefined
  #retryMs: number | undefined
  #linger: NodeJS.Timeout | undefined

  constructor(road: Road, leg: Leg, traveller: Traveller) {
    this.#road = road
    this.#leg = leg
    this.#traveller = traveller
  }

  start(): void {
    try {
      this.#road.pool.dispatch({ ...this.#leg, headersTimeout: 0, bodyTimeout: 0 }, this)
    } catch (error) {
      this.onResponseError(undefined, error as Error)
    }
  }

  /** Ends it without another word to the traveller; a request that has not left does not leave. */
  drop(): void {
    this.#dropped = true
    this.#over = true
    this.#controller?.abort(new Error('Dropped.'))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#dropped) controller.abort(new Error('Dropped.'))
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // An interim answer (100, 103) announces the real one.
    if (status < 200) return
    this.#status = status
    const type = one(headers['content-type']).split(';', 1)[0]?.trim().toLowerCase() ?? ''
    const encoding = one(headers['content-encoding']).trim().toLowerCase()
    if (status === 307 || status === 308) return this.#move(one(headers.location))
    if (status >= 300) {
      this.#body = 'refusal'
      return
    }
    const session = one(headers['mcp-session-id'])
    if (session !== '') this.#traveller.onSession(session)
    if (encoding !== '' && encoding !== 'identity') {
      return this.#fail(
        'garbled',
        `It answered in the encoding "${this.#road.snip(encoding)}", which was not asked for.`,
      )
    }
    if (type === 'text/event-stream') this.#openEvents()
    else this.#body = type === 'application/json' ? 'json' : 'other'
    if (Number(headers['content-length']) > MESSAGE_LIMIT) this.#tooLarge()
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#body === 'events') return this.#feed(chunk)
    if (this.#over) return
    this.#size += chunk.length
    if (this.#body === 'json' ? this.#size > MESSAGE_LIMIT : this.#size > REFUSAL_LIMIT) {
      if (this.#body === 'json') return this.#tooLarge()
      this.#finish()
      this.#controller?.abort(new Error('Enough was read.'))
      return
    }
    this.#parts.push(chunk)
  }

  onResponseEnd(): void {
    clearTimeout(this.#linger)
    if (this.#over) return
    if (this.#movedTo !== undefined) return this.#again(this.#movedTo)
    this.#finish()
  }

  onResponseError(_controller: unknown, error: Error): void {
    clearTimeout(this.#linger)
    if (this.#over) return
    const sent = this.#controller !== undefined
    const code = this.#road.snip(String((error as NodeJS.ErrnoException).code ?? error.name))
    const reason =
      error instanceof AddressRefused || error instanceof NoToken
        ? error.message
        : sent
          ? `The connection broke before the answer was whole (${code}).`
          : `No connection could be made (${code}).`
    this.#end({ kind: sent ? 'broken' : 'unreachable', reason, ran: sent ? 'maybe' : 'no' })
  }

  /** A whole body has come (or the stream has ended): say what it was. */
  #finish(): void {
    const awaits = this.#traveller.awaits
    switch (this.#body) {
      case 'events':
        return this.#end(
          awaits === undefined ? undefined : this.#problem('broken', 'Its event stream ended before the answer.'),
        )
      case 'json':
        return this.#deliver(this.#text())
      case 'refusal':
        return this.#refuse(this.#text())
      default:
        if (awaits === undefined) return this.#end(undefined)
        return this.#end(
          this.#problem('garbled', this.#said('It answered with something that is neither JSON nor an event stream')),
        )
    }
  }

  #deliver(text: string): void {
    const messages = readMessages(text)
    if (messages === undefined) {
      if (this.#traveller.awaits === undefined) return this.#end(undefined)
      return this.#end(this.#problem('garbled', this.#said('It answered with something that is not JSON-RPC')))
    }
    for (const message of messages) this.#hear(message)
    if (this.#over) return
    const awaits = this.#traveller.awaits
    this.#end(
      awaits === undefined
        ? undefined
        : this.#problem('garbled', this.#said('It answered with something that is no answer to this request')),
    )
  }

  #hear(message: Message): void {
    if (this.#over) return
    this.#traveller.onMessage(message)
    const { awaits } = this.#traveller
    if (awaits !== undefined && answers(message, awaits)) this.#end(undefined)
  }

  #openEvents(): void {
    this.#body = 'events'
    this.#traveller.onStream?.()
    this.#decoder = new TextDecoder('utf-8')
    this.#parser = createParser({
      maxBufferSize: MESSAGE_LIMIT,
      onId: (id) => {
        this.#lastEventId = id === '' ? undefined : id
      },
      onRetry: (ms) => {
        this.#retryMs = ms
      },
      onEvent: ({ event, data }) => {
        if (this.#over || (event !== undefined && event !== 'message') || data.trim() === '') return
        const messages = readMessages(data)
        if (messages === undefined) {
          this.#fail('garbled', `It sent an event that is not JSON-RPC: ${this.#road.snip(data)}`)
          return
        }
        for (const message of messages) this.#hear(message)
      },
      onError: (error) => {
        if (error.type === 'max-buffer-size-exceeded' && !this.#over) this.#tooLarge()
      },
    })
  }

  #feed(chunk: Buffer): void {
    if (this.#over && this.#linger === undefined) return
    try {
      this.#parser?.feed(this.#decoder?.decode(chunk, { stream: true }) ?? '')
    } catch (error) {
      // The parser throws once it has given up for size, which was told by then.
      if (!this.#over) throw error
    }
    if (this.#over && this.#linger === undefined && !this.#dropped && this.#controller?.aborted !== true) {
      this.#linger = setTimeout(() => this.#controller?.abort(new Error('The answer is here.')), LINGER_MS)
      this.#linger.unref()
    }
  }

  #move(location: string): void {
    const here = new URL(this.#leg.path, this.#road.origin)
    const there = URL.parse(location, here.href) ?? undefined
    this.#body = 'moved'
    if (there === undefined || there.origin !== this.#road.origin || this.#redirected) {
      const why = this.#redirected ? 'a second time' : 'to another origin, which is not followed'
      return this.#end({
        kind: 'refused',
        reason: `It redirected the request ${why}.`,
        ran: 'no',
        status: this.#status,
        body: '',
      })
    }
    this.#movedTo = there.pathname + there.search
  }

  #again(path: string): void {
    this.#redirected = true
    this.#movedTo = undefined
    this.#controller = undefined
    this.#body = 'unread'
    this.#parts = []
    this.#size = 0
    this.#leg = { ...this.#leg, path }
    this.start()
  }

  #refuse(text: string): void {
    // A status below 500 says that the request was turned down; above, anything may have happened.
    const ran = this.#status < 500 && this.#status !== 408 ? 'no' : 'maybe'
    const said = this.#road.snip(text)
    const reason = `It answered HTTP ${this.#status}${said === '' ? '.' : `: ${said}`}`
    this.#end({ kind: 'refused', reason, ran, status: this.#status, body: text })
  }

  #fail(kind: WireProblem['kind'], reason: string): void {
    this.#end(this.#problem(kind, reason))
    this.#controller?.abort(new Error(reason))
  }

  #tooLarge(): void {
    this.#fail('too-large', `Its answer is larger than ${MESSAGE_LIMIT / 1024 / 1024} MiB.`)
  }

  #problem(kind: WireProblem['kind'], reason: string): WireProblem {
    return { kind, reason, ran: 'maybe' }
  }

  #said(what: string): string {
    const said = this.#road.snip(this.#text())
    return `${what} (HTTP ${this.#status})${said === '' ? ', an empty body.' : `: ${said}`}`
  }

  #text(): string {
    const [first] = this.#parts
    const text =
      this.#parts.length === 1 && first !== undefined
        ? first.toString('utf8')
        : Buffer.concat(this.#parts).toString('utf8')
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  }

  #end(problem: WireProblem | undefined): void {
    if (this.#over) return
    this.#over = true
    const torn = problem?.kind === 'broken' && this.#lastEventId !== undefined
    this.#traveller.onEnd(
      problem,
      torn && this.#lastEventId !== undefined ? { lastEventId: this.#lastEventId, retryMs: this.#retryMs } : undefined,
    )
  }
}

const one = (value: string | string[] | undefined): string => (Array.isArray(value) ? (value[0] ?? '') : (value ?? ''))
