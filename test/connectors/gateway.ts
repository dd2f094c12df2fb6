/**
 * A whole gateway with one native connector on its stand-in: what a person and a model see of its calls, and every line
 * of the log.
 * @module
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { createApp } from '../../src/app.ts'
import { loadConfig } from '../../src/config/config.ts'
import { listen } from '../../src/http/server.ts'
import { SWITCHES } from '../../src/policy/switches.ts'
import { prepareDatabase } from '../support/database.ts'
import { ADMIN_KEY, freePort, readAnswer } from '../support/gateway.ts'

export interface ConnectorGateway {
  readonly logged: string[]
  api(method: string, path: string, body?: unknown): Promise<{ status: number; text: string; body: any }>
  /** A tool call of a person's session; a card that comes of it is approved. Answers the whole text and the card. */
  call(token: string, name: string, args: unknown): Promise<{ text: string; result: any; cards: any[] }>
  list(token: string): Promise<string>
  token(brand: string): Promise<string>
  close(): Promise<void>
}

/** Starts one; every switch that allows something is on, unless `env` says otherwise. `more`: of the configuration file. */
export async function startConnectorGateway(
  slug: string,
  baseUrl: string,
  env: Readonly<Record<string, string>> = {},
  more: object = {},
): Promise<ConnectorGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-connector-'))
  const file = join(folder, 'config.json')
  await writeFile(file, JSON.stringify({ connectors: { [slug]: { baseUrl } }, ...more }))
  const data = join(folder, 'data')
  const database = await prepareDatabase(data, false)
  const port = await freePort()
  const allowed = SWITCHES.filter(({ name }) => /_ALLOW_/.test(name)).map(({ name }) => [name, 'true'])
  const config = loadConfig({
    PORT: String(port),
    TOLLGATE_DATA: data,
    TOLLGATE_CONFIG: file,
    TOLLGATE_ADMIN_KEY: ADMIN_KEY,
    TOLLGATE_SECRET: 'a-secret-of-the-connector-tests',
    ...Object.fromEntries(allowed),
    ...env,
    ...database.env,
  })
  const logged: string[] = []
  const app = await createApp(config, pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) }))
  await listen(app.server, config.port, config.host)
  const url = `http://127.0.0.1:${port}`

  const api: ConnectorGateway['api'] = async (method, path, body) => {
    const headers = {
      authorization: `Bearer ${ADMIN_KEY}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    const response = await fetch(`${url}${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, text, body: text.startsWith('{') ? JSON.parse(text) : undefined }
  }
  const rpc = async (token: string, method: string, params: object) => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const name = (params as { name?: string }).name
    const response = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        ...(name !== undefined && { 'mcp-name': name }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } }),
    })
    return readAnswer(response)
  }

  return {
    logged,
    api,
    list: async (token) => (await rpc(token, 'tools/list', {})).text,
    async call(token, name, args) {
      const cards: any[] = []
      let over = false
      const calling = rpc(token, 'tools/call', { name, arguments: args }).finally(() => {
        over = true
      })
      while (!over) {
        for (const card of (await api('GET', '/v1/approvals?status=pending&limit=10')).body.items) {
          cards.push(card)
          await api('POST', `/v1/approvals/${card.id}/approve`, {})
        }
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      const { text, answer } = await calling
      return { text, result: answer.result ?? answer, cards }
    },
    async token(brand) {
      const { body } = await api('POST', '/v1/sessions', { brand, role: 'person-chat', approval: { channel: 'inbox' } })
      return body.token
    },
    async close() {
      await app.close()
      await database.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
