/**
 * A client that reads the messages of its calls as they come, in either era.
 * @module
 */
import { readEvents } from './bank.ts'
import { type Era, type Gateway, headerText, HELLO } from './gateway.ts'

/** A call under way. */
export interface Calling {
  readonly id: string
  /** All that came so far. */
  readonly messages: any[]
  /** From the start to the headers of the answer (ms), and its content type. */
  readonly opened: Promise<{ ms: number; type: string | null }>
  /** The last message; rejects when the call was dropped. */
  readonly ended: Promise<any>
  /** Closes the connection. */
  drop(): void
}

export interface StreamingClient {
  call(name: string, args: object, more?: { progressToken?: unknown; params?: object }): Calling
  /** Cancels as the era does: by a notice, or by closing the connection. */
  cancel(calling: Calling): Promise<void>
  /** Answers a request of the server's; the HTTP status. */
  respond(id: unknown, result: object): Promise<number>
}

/** Makes the client; in the legacy era it shakes hands first. */
export async function streamingClient(
  gateway: Gateway,
  era: Era,
  token: string,
  capabilities: object = {},
): Promise<StreamingClient> {
  const opened = era === 'legacy' ? await gateway.rpc(token, 'initialize', { ...HELLO, capabilities }) : undefined
  const carried: Record<string, string> = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(opened && {
      'mcp-session-id': opened.headers.get('mcp-session-id') ?? '',
      'mcp-protocol-version': HELLO.protocolVersion,
    }),
  }
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  }
  const post = (message: object, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> =>
    fetch(gateway.mcpUrl, {
      method: 'POST',
      headers: { ...carried, ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      ...(signal && { signal }),
    })
  let count = 0

  return {
    call(name, args, { progressToken, params = {} } = {}) {
      const id = `call-${++count}`
      const abort = new AbortController()
      const messages: any[] = []
      const _meta = { ...(progressToken === undefined ? {} : { progressToken }), ...(era === 'modern' && envelope) }
      const mirrored: Record<string, string> =
        era === 'modern'
          ? { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': headerText(name) }
          : {}
      const began = performance.now()
      const message = { id, method: 'tools/call', params: { name, arguments: args, ...params, _meta } }
      const response = post(message, mirrored, abort.signal)
      const opened = response.then(({ headers }) => ({
        ms: performance.now() - began,
        type: headers.get('content-type'),
      }))
      const ended = response.then(async (found) => {
        if (found.headers.get('content-type')?.startsWith('text/event-stream') !== true)
          messages.push(await found.json())
        else await readEvents(found, (heard) => messages.push(heard))
        return messages.at(-1)
      })
      opened.catch(() => {})
      ended.catch(() => {})
      return { id, messages, opened, ended, drop: () => abort.abort() }
    },
    async cancel(calling) {
      if (era === 'modern') calling.drop()
      else await post({ method: 'notifications/cancelled', params: { requestId: calling.id } })
    },
    respond: async (id, result) => (await post({ id, result })).status,
  }
}
