/**
 * The answer to one POST: a single JSON message, or an event stream once something must be said before the end.
 * @module
 */
import type { ServerResponse } from 'node:http'

export interface Reply {
  /** Whether the client takes messages before the answer. */
  readonly streams: boolean
  /** One JSON message with this HTTP status, and the end. */
  json(status: number, text: string, headers?: Record<string, string>): void
  /** One JSON message, from parts of which the bytes are kept ready. */
  ready(parts: readonly (string | Buffer)[]): void
  /** No body. */
  empty(status: number): void
  /** Sends the first byte now: the call will take a while. */
  open(): void
  /** A message before the answer; dropped for a client that takes JSON only. */
  message(text: string): void
  /** The answer. */
  end(text: string): void
  /** Calls back once the whole answer has gone out; never when the client left before. */
  onDelivered(listener: () => void): void
}

const STREAM = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
}
const JSON_TYPE = 'application/json; charset=utf-8'

const fixed = (length: number) => ({
  'content-type': JSON_TYPE,
  'content-length': length,
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
})

/** What a client takes. */
export interface Takes {
  readonly json: boolean
  readonly stream: boolean
}

/** Reads `Accept` headers; the same few come again and again. No header takes JSON, `*\/*` takes both. */
export function createAccepts(): (header: string | undefined) => Takes {
  const known = new Map<string, Takes>()
  return function accepts(sent) {
    const header = sent || 'application/json'
    const kept = known.get(header)
    if (kept !== undefined) return kept
    const ranges = header.split(',').map((range) => range.split(';')[0]?.trim().toLowerCase())
    const any = ranges.includes('*/*')
    const takes = {
      json: any || ranges.includes('application/json') || ranges.includes('application/*'),
      stream: any || ranges.includes('text/event-stream') || ranges.includes('text/*'),
    }
    if (known.size < 100) known.set(header, takes)
    return takes
  }
}

/** One server-sent event. JSON may hold line breaks between its tokens, never inside its strings. */
export function event(text: string): string {
  const line = text.includes('\n') || text.includes('\r') ? text.replace(/[\r\n]+/g, ' ') : text
  return `event: message\ndata: ${line}\n\n`
}

/** Builds the reply to one request. */
export function createReply(res: ServerResponse, takes: Takes): Reply {
  let opened: 'no' | 'stream' | 'json' = 'no'
  res.on('error', () => {})

  function open(): void {
    if (opened !== 'no' || res.destroyed) return
    if (takes.stream) {
      opened = 'stream'
      res.writeHead(200, STREAM)
      res.write(': open\n\n')
    } else {
      opened = 'json'
      res.writeHead(200, { 'content-type': JSON_TYPE, 'cache-control': 'no-store' })
      res.write(' ')
    }
  }

  return {
    streams: takes.stream,
    json(status, text, headers) {
      if (res.headersSent || res.destroyed) return
      // As text, so that Node joins head and body into one write.
      res.writeHead(status, { ...fixed(Buffer.byteLength(text)), ...headers })
      res.end(text)
    },
    ready(parts) {
      if (res.headersSent || res.destroyed) return
      if (!takes.json) return this.end(parts.map(String).join(''))
      const length = parts.reduce(
        (sum, part) => sum + (typeof part === 'string' ? Buffer.byteLength(part) : part.length),
        0,
      )
      res.cork()
      res.writeHead(200, fixed(length))
      for (const part of parts) res.write(part)
      res.end()
    },
    empty(status) {
      if (res.headersSent || res.destroyed) return
      res.writeHead(status, { 'content-length': 0 })
      res.end()
    },
    open,
    message(text) {
      if (res.writableEnded) return
      open()
      if (opened === 'stream') res.write(event(text))
    },
    end(text) {
      if (res.writableEnded) return
      if (opened === 'no' && takes.json) return this.json(200, text)
      open()
      res.end(opened === 'stream' ? event(text) : text)
    },
    onDelivered(listener) {
      res.once('finish', listener)
    },
  }
}
