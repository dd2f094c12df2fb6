/** A gateway whose callers come with tokens of its own and of a host app, and ways to knock at it. One per test file. */
import { generateKeyPairSync } from 'node:crypto'
import { expect } from 'vitest'
import { signEd } from '../session/world.ts'
import { ERAS, type Gateway, speaker, startGateway } from '../support/gateway.ts'
import { rawExchange, rawRequest } from '../support/raw.ts'
import { startUpstream, tool, type Upstream } from '../support/upstream.ts'

export const HOST = 'https://host.example'
const pair = generateKeyPairSync('ed25519')
export const READS = ['echo', 'find']
export const WRITES = ['write_file', 'delete_file', 'unclassified']

export let upstream: Upstream
export let gateway: Gateway
/** Holds the reads of `u` and may ask nobody. */
export let reader: string

/** Starts the world of a file. */
export async function openWorld(): Promise<void> {
  const run = (call: { text(text: string): void }) => call.text('ran')
  upstream = await startUpstream({
    tools: [...READS, ...WRITES].map((name) => tool(name)),
    behaviours: Object.fromEntries(['find', ...WRITES].map((name) => [name, run])),
  })
  const { x, crv, kty } = pair.publicKey.export({ format: 'jwk' })
  const read = { access: 'read', grantable: true }
  gateway = await startGateway(
    {
      u: {
        type: 'http',
        url: upstream.url,
        tools: { echo: read, find: read, write_file: 'write', delete_file: 'write' },
      },
    },
    {},
    {
      authorizationServers: ['https://login.example'],
      issuers: [
        {
          issuer: HOST,
          jwks: { keys: [{ x, crv, kty, kid: 'k' }] },
          brands: ['default'],
          roles: ['person-chat', 'specialist'],
        },
      ],
    },
  )
  await gateway.running.settled(5_000)
  reader = await gateway.token({ role: 'specialist', grant: { connectors: ['u'] } })
}

export async function closeWorld(): Promise<void> {
  await gateway?.close()
  await upstream?.close()
}

const port = (): number => Number(new URL(gateway.url).port)
export const ECHO = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"u__echo","arguments":{}}}'

/** Runs the work, and sees that no call reached the upstream and that the next ordinary call works. */
export async function unreached(work: () => Promise<void>): Promise<void> {
  const before = upstream.of('tools/call').length
  await work()
  expect(upstream.of('tools/call')).toHaveLength(before)
  for (const era of ERAS) {
    const { answer } = await (await speaker(gateway, era, reader))('tools/call', { name: 'u__echo', arguments: {} })
    expect(answer.result.content[0].text).toBe('{}')
  }
}

/** Knocks at /mcp with these header lines for authentication, as raw bytes. */
export async function knock(lines: readonly string[], path = '/mcp', body = ECHO) {
  const headers = ['Host: localhost', 'Content-Type: application/json', 'Accept: application/json', ...lines]
  const { answers } = await rawExchange(port(), [rawRequest(`POST ${path} HTTP/1.1`, headers, body)])
  return answers[0]!
}

/** Claims of a host-signed token; `undefined` leaves one out. */
function hostClaims(changes: Record<string, unknown> = {}): object {
  const iat = Math.floor(Date.now() / 1000)
  return {
    iss: HOST,
    aud: gateway.mcpUrl,
    sub: 'host',
    jti: `j${Math.random()}`,
    iat,
    exp: iat + 600,
    brand: 'default',
    role: 'specialist',
    route: 'standard',
    ceiling: ['mcp__u__*'],
    grant: { connectors: ['u'] },
    approval: { channel: 'none' },
    ...changes,
  }
}
const TYP = 'tollgate-session+jwt'
/** A token of the host app. */
export const hostToken = (changes: Record<string, unknown> = {}, header: object = {}): string =>
  signEd({ alg: 'EdDSA', typ: TYP, kid: 'k', ...header }, hostClaims(changes), pair.privateKey)
