/**
 * A keep-alive HTTP/1.1 connection on a bare socket, one request at a time. It exists so that making load costs far
 * less than what the load is made for; it reads what the targets of this bench send, and no more of HTTP than that.
 * @module
 */
import { connect, type Socket } from 'node:net'

export interface HttpAnswer {
  readonly status: number
  /** The head as it came, without the blank line. */
  readonly head: string
  readonly body: Buffer
}

interface Waiting {
  readonly resolve: (answer: HttpAnswer) => void
  readonly reject: (problem: Error) => void
  /** Whether the head alone is the answer, as for an event stream that stays open. */
  readonly headOnly: boolean
}

const BLANK_LINE = '\r\n\r\n'
const LAST_CHUNK = '\r\n0\r\n\r\n'

/** A client's connection to one target. It connects by itself, again too when the other side has closed it. */
export class Connection {
  readonly #host: string
  readonly #port: number
  #socket: Socket | undefined
  #waiting: Waiting | undefined
  #head: string | undefined
  #parts: Buffer[] = []
  #size = 0

  constructor(url: URL) {
    this.#host = url.hostname
    this.#port = Number(url.port)
  }

  /** Sends the bytes of one request and waits for its answer. */
  async send(request: string, headOnly = false): Promise<HttpAnswer> {
    const socket = this.#socket ?? (await this.#connect())
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject, headOnly }
      socket.write(request)
    })
  }

  close(): void {
    this.#socket?.destroy()
    this.#socket = undefined
  }

  #connect(): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: this.#host, port: this.#port, noDelay: true }, () => {
        this.#socket = socket
        resolve(socket)
      })
      const gone = (problem: Error): void => {
        if (this.#socket === socket) this.#socket = undefined
        reject(problem)
        this.#waiting?.reject(problem)
        this.#waiting = undefined
      }
      socket.on('error', gone)
      socket.on('close', () => gone(new Error('The connection closed before the answer was there.')))
      socket.on('data', (bytes) => this.#read(bytes))
    })
  }

  #read(bytes: Buffer): void {
    // What comes on an open event stream is of no interest here.
    if (this.#waiting === undefined) return
    this.#parts.push(bytes)
    this.#size += bytes.length
    if (this.#head === undefined) {
      const first = this.#parts.length === 1 ? bytes : Buffer.concat(this.#parts)
      const end = first.indexOf(BLANK_LINE)
      if (end < 0) return
      this.#head = first.toString('latin1', 0, end)
      this.#parts = [first.subarray(end + BLANK_LINE.length)]
      this.#size = first.length - end - BLANK_LINE.length
    }
    if (this.#waiting.headOnly || this.#isWhole(this.#head)) this.#answer(this.#waiting, this.#head)
  }

  #isWhole(head: string): boolean {
    const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
    if (length !== undefined) return this.#size >= Number(length)
    if (!/\r\ntransfer-encoding: chunked/i.test(head)) return true
    // One request at a time: what ends the last chunk ends what has come.
    let tail = ''
    for (let i = this.#parts.length - 1; i >= 0 && tail.length < LAST_CHUNK.length; i--) {
      tail = this.#parts[i]!.subarray(-LAST_CHUNK.length).toString('latin1') + tail
    }
    return tail.endsWith(LAST_CHUNK) || (this.#size === 5 && tail === '0\r\n\r\n')
  }

  #answer(waiting: Waiting, head: string): void {
    const body = this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts)
    this.#waiting = undefined
    this.#head = undefined
    this.#parts = []
    this.#size = 0
    if (/\r\nconnection: close/i.test(head)) this.close()
    waiting.resolve({ status: Number(head.slice(9, 12)), head, body })
  }
}
