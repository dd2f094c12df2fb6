/**
 * Bytes to a port and what comes back: for requests that no HTTP library would send.
 * @module
 */
import { once } from 'node:events'
import { connect } from 'node:net'

export interface RawAnswer {
  readonly status: number
  /** By lower-case name; several of one name are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface RawExchange {
  /** Every whole answer that came, in order. */
  readonly answers: readonly RawAnswer[]
  /** All that came, as it came. */
  readonly text: string
  /** Whether the other side closed the connection. */
  readonly closed: boolean
  /** Bytes that the other side took before the end. */
  readonly sent: number
}

export interface RawOptions {
  /** Stop after this many whole answers (default 1). */
  readonly answers?: number
  /** Stop after this long in any case, in milliseconds (default 5,000). */
  readonly withinMs?: number
  /** Stop this long after the first whole answer, though not enough came (default: never). */
  readonly lingerMs?: number
}

/**
 * Sends the parts one after another, each when the one before was taken, and reads until enough came, the other side
 * closed, or the time is over. Never rejects: a cut connection is an answer too.
 */
export function rawExchange(
  port: number,
  parts: Iterable<string | Buffer>,
  { answers: wanted = 1, withinMs = 5_000, lingerMs }: RawOptions = {},
): Promise<RawExchange> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let received = Buffer.alloc(0)
    let closed = false
    let over = false
    const timer = setTimeout(finish, withinMs)
    let lingering: NodeJS.Timeout | undefined
    function finish(): void {
      if (over) return
      over = true
      clearTimeout(timer)
      clearTimeout(lingering)
      const sent = socket.bytesWritten - socket.writableLength
      socket.destroy()
      resolve({ answers: readAnswers(received), text: received.toString('latin1'), closed, sent })
    }
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes])
      const { length } = readAnswers(received)
      if (length >= wanted) finish()
      else if (length > 0 && lingerMs !== undefined) lingering ??= setTimeout(finish, lingerMs)
    })
    socket.on('error', () => {
      closed = true
    })
    socket.on('end', () => {
      closed = true
    })
    socket.on('close', () => {
      closed = true
      finish()
    })
    const gone = new Promise((done) => socket.once('close', done))
    void send()
    async function send(): Promise<void> {
      for (const part of parts) {
        if (over || socket.destroyed) return
        if (!socket.write(typeof part === 'string' ? Buffer.from(part, 'latin1') : part)) {
          await Promise.race([once(socket, 'drain').catch(() => {}), gone])
        }
      }
    }
  })
}

/** Sends the head, then a byte each second, until the other side cuts the connection or the time is over. */
export function trickle(port: number, head: string, withinMs: number): Promise<RawExchange> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let received = Buffer.alloc(0)
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes])
    })
    socket.on('error', () => {})
    socket.write(head, 'latin1')
    const drip = setInterval(() => socket.write('a'), 1_000)
    const timer = setTimeout(() => end(false), withinMs)
    socket.once('close', () => end(true))
    function end(closed: boolean): void {
      clearInterval(drip)
      clearTimeout(timer)
      socket.destroy()
      resolve({ answers: readAnswers(received), text: received.toString('latin1'), closed, sent: socket.bytesWritten })
    }
  })
}

/** One HTTP/1.1 request as text: request line, headers as given, Content-Length of the body unless one is given. */
export function rawRequest(line: string, headers: readonly string[], body: string | Buffer = ''): Buffer {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const named = headers.some((header) => /^(content-length|transfer-encoding)\s*:/i.test(header))
  const all = named || bytes.length === 0 ? headers : [...headers, `Content-Length: ${bytes.length}`]
  return Buffer.concat([Buffer.from(`${[line, ...all].join('\r\n')}\r\n\r\n`, 'latin1'), bytes])
}

/** The whole answers at the start of what came. */
function readAnswers(received: Buffer): RawAnswer[] {
  const answers: RawAnswer[] = []
  let text = received.toString('latin1')
  for (;;) {
    const end = text.indexOf('\r\n\r\n')
    const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]
    if (end < 0 || status === undefined) return answers
    const headers: Record<string, string> = {}
    for (const line of text.slice(0, end).split('\r\n').slice(1)) {
      const name = line.slice(0, line.indexOf(':')).toLowerCase()
      const value = line.slice(line.indexOf(':') + 1).trim()
      headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`
    }
    const rest = text.slice(end + 4)
    const body =
      headers['transfer-encoding'] === 'chunked' ? readChunks(rest) : readLength(rest, headers['content-length'])
    if (body === undefined) return answers
    answers.push({ status: Number(status), headers, body: Buffer.from(body.text, 'latin1').toString('utf8') })
    text = rest.slice(body.taken)
  }
}

function readLength(rest: string, length: string | undefined): { text: string; taken: number } | undefined {
  const taken = Number(length ?? 0)
  return rest.length >= taken ? { text: rest.slice(0, taken), taken } : undefined
}

function readChunks(rest: string): { text: string; taken: number } | undefined {
  let text = ''
  let at = 0
  for (;;) {
    const line = rest.indexOf('\r\n', at)
    if (line < 0) return undefined
    const size = Number.parseInt(rest.slice(at, line), 16)
    if (rest.length < line + 2 + size + 2) return undefined
    if (size === 0) return { text, taken: line + 4 }
    text += rest.slice(line + 2, line + 2 + size)
    at = line + 2 + size + 2
  }
}
