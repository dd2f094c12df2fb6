/**
 * An MCP client that says no more than it must: one session on one connection, with every request's head made ahead.
 * @module
 */
import { Connection, type HttpAnswer } from './connection.ts'

/** Where a target is called, and how. */
export interface Door {
  readonly url: URL
  readonly era: 'legacy' | 'modern'
  /** The name under which the target lists the tool. */
  readonly tool: string
  readonly token: string | undefined
}

const MODERN = '2026-07-28'
const INITIALIZE =
  '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},' +
  '"clientInfo":{"name":"bench","version":"1"}}}'
const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}'
const META =
  `"_meta":{"io.modelcontextprotocol/protocolVersion":"${MODERN}",` +
  '"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}'

/** One client of a door. Every method throws when the answer is not what it must be. */
export class Client {
  readonly #door: Door
  readonly #connection: Connection
  readonly #modern: boolean
  #stream: Connection | undefined
  #callHead = ''
  #listHead = ''
  #bareHeaders = ''
  #id = 1

  constructor(door: Door, connection = new Connection(door.url)) {
    this.#door = door
    this.#connection = connection
    this.#modern = door.era === 'modern'
  }

  /** Opens the MCP session; the modern era has none. */
  async open(): Promise<void> {
    if (this.#modern) {
      const headers = this.#headers(`mcp-protocol-version: ${MODERN}\r\n`)
      this.#callHead = this.#post(`${headers}mcp-method: tools/call\r\nmcp-name: ${this.#door.tool}\r\n`)
      this.#listHead = this.#post(`${headers}mcp-method: tools/list\r\n`)
      return
    }
    const opened = await this.#exchange(this.#post(this.#headers('')), INITIALIZE)
    expectResult(opened)
    const session = /\r\nmcp-session-id: ([^\r]+)/i.exec(opened.head)?.[1]
    const more = session === undefined ? '' : `mcp-session-id: ${session}\r\n`
    this.#bareHeaders = this.#headers(`mcp-protocol-version: 2025-11-25\r\n${more}`)
    this.#callHead = this.#listHead = this.#post(this.#bareHeaders)
    const told = await this.#exchange(this.#callHead, INITIALIZED)
    if (told.status !== 202) throw new Error(`initialized was answered with HTTP ${told.status}`)
  }

  async call(): Promise<Buffer> {
    const params = `"name":"${this.#door.tool}","arguments":{"query":"bench","limit":3}`
    return expectResult(await this.#exchange(this.#callHead, this.#request('tools/call', params)))
  }

  async list(): Promise<Buffer> {
    return expectResult(await this.#exchange(this.#listHead, this.#request('tools/list', '')))
  }

  /** Opens the stream on which a legacy server sends notices, and leaves it open. */
  async listen(): Promise<void> {
    this.#stream = new Connection(this.#door.url)
    const { status } = await this.#stream.send(this.#start('GET', this.#bareHeaders), true)
    if (status !== 200) throw new Error(`the GET stream was answered with HTTP ${status}`)
  }

  /** Ends the MCP session; the connection stays. */
  async end(): Promise<void> {
    if (this.#modern) return
    const { status } = await this.#connection.send(`${this.#start('DELETE', this.#bareHeaders)}`)
    if (status >= 300) throw new Error(`DELETE was answered with HTTP ${status}`)
  }

  /** Closes the connection for requests; an open stream stays. */
  rest(): void {
    this.#connection.close()
  }

  close(): void {
    this.#connection.close()
    this.#stream?.close()
  }

  #headers(more: string): string {
    const { token } = this.#door
    const authorization = token === undefined ? '' : `authorization: Bearer ${token}\r\n`
    return `accept: application/json, text/event-stream\r\n${authorization}${more}`
  }

  #start(method: string, headers: string): string {
    const { pathname, host } = this.#door.url
    return `${method} ${pathname} HTTP/1.1\r\nhost: ${host}\r\n${headers}\r\n`
  }

  #post(headers: string): string {
    return `${this.#start('POST', `${headers}content-type: application/json\r\n`).slice(0, -2)}content-length: `
  }

  #request(method: string, params: string): string {
    const all = [params, this.#modern ? META : ''].filter((text) => text !== '').join(',')
    return `{"jsonrpc":"2.0","id":${this.#id++},"method":"${method}","params":{${all}}}`
  }

  /** All bodies are ASCII, so their length in characters is that in bytes. */
  #exchange(head: string, body: string): Promise<HttpAnswer> {
    return this.#connection.send(`${head}${body.length}\r\n\r\n${body}`)
  }
}

function expectResult({ status, body }: HttpAnswer): Buffer {
  const failed =
    status !== 200 || !body.includes('"result"') || (body.length < 65_536 && body.includes('"isError":true'))
  if (failed) throw new Error(`HTTP ${status}: ${body.toString('utf8', 0, 300)}`)
  return body
}

/** The `result` in the body of an answer, whether it came as JSON or as an event stream. */
export function resultOf(body: Buffer): any {
  const text = body.toString('utf8')
  const from = text.startsWith('{') ? 0 : text.indexOf('data: ') + 6
  // Chunks of an event stream have their lengths between them; an answer's text itself holds no line break.
  const joined = from === 0 ? text : text.slice(from).replace(/\r\n[0-9a-f]+\r\n/g, '')
  return JSON.parse(joined.split('\n', 1)[0] ?? '').result
}
