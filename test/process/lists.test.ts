/**
 * A2: for random sessions the names of `tools/list`, all pages of it, are the names that `tools/call` does not refuse as
 * unknown, in both eras; and they are the names that the oracle gives. `LIST_SESSIONS` says how many sessions.
 */
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answer, type Foreign, isGiven, type Situation } from '../policy/oracle.ts'
import { ERAS, type Era, type Gateway, speaker, startGateway } from '../support/gateway.ts'
import { signEd } from '../session/world.ts'
import { startUpstream, tool, type Upstream } from '../support/upstream.ts'

const SESSIONS = Number(process.env.LIST_SESSIONS ?? 500)
const SEED = Number(process.env.ORACLE_SEED ?? Date.now() % 2 ** 31)
const AT_ONCE = 8
/** One for each session, so that no session counts against another's limits. */
const BRANDS = Array.from({ length: SESSIONS }, (_, i) => `brand-${i}`)
const HOST = 'https://host.example'
const ROLES = ['person-chat', 'specialist', 'goal-agent', 'coworker'] as const
const pair = generateKeyPairSync('ed25519')

const KINDS: Record<string, Omit<Foreign, 'name'>> = {
  look: { access: 'read', ask: false, grantable: true },
  peek: { access: 'read', ask: false, grantable: false },
  asked: { access: 'read', ask: true, grantable: true },
  write: { access: 'write', ask: false, grantable: false },
}
const SERVERS = ['up', 'up_two', 'up-x']
const FOREIGN: Foreign[] = SERVERS.flatMap((server) =>
  Object.entries(KINDS).map(([name, kind]) => ({ name: `mcp__${server}__${name}`, ...kind })),
)
/** Real, of a platform server that is not built, of no server, and near misses. */
const NAMES = [
  ...FOREIGN.map(({ name }) => name.slice(5)),
  'memory__memory_read',
  'shopify__shopify_admin_graphql',
  'up__look2',
  'UP__look',
]

let upstreams: Upstream[]
let gateway: Gateway

beforeAll(async () => {
  const ran = (call: { text(text: string): void }) => call.text('ran')
  const definitions = Object.keys(KINDS)
  const behaviours = Object.fromEntries(definitions.map((name) => [name, ran]))
  upstreams = await Promise.all(
    SERVERS.map(() => startUpstream({ tools: definitions.map((name) => tool(name)), behaviours })),
  )
  const { x, crv, kty } = pair.publicKey.export({ format: 'jwk' })
  const servers = SERVERS.map((name, i) => [name, { type: 'http', url: upstreams[i]!.url, tools: KINDS, brands: '*' }])
  gateway = await startGateway(
    Object.fromEntries(servers),
    { TOLLGATE_APPROVAL_WAIT_MS: '0' },
    {
      limits: { listPageSize: 5 },
      issuers: [{ issuer: HOST, jwks: { keys: [{ x, crv, kty, kid: 'k' }] }, brands: BRANDS, roles: [...ROLES] }],
    },
  )
  await gateway.running.settled(10_000)
})
afterAll(async () => {
  await gateway?.close()
  for (const upstream of upstreams ?? []) await upstream.close()
})

const someSession = fc
  .record({
    who: fc.constantFrom(...ROLES),
    readOnlyRoute: fc.nat(7).map((n) => n === 0),
    asks: fc.subarray([...FOREIGN.map(({ name }) => name), ...SERVERS.map((server) => `mcp__${server}__*`)]),
    granted: fc.subarray(SERVERS),
  })
  .map((drawn): Situation => {
    const granted = ['specialist', 'goal-agent'].includes(drawn.who) ? drawn.granted : []
    return {
      ...drawn,
      granted,
      skills: [],
      depth: 0,
      channel: false,
      approvals: true,
      githubWrites: false,
      shopifyWrites: false,
      built: [],
      foreign: FOREIGN,
    }
  })

/** A token of the host app: what a session may hold is decided on use, not when it is issued. */
function signed(s: Situation, brand: string): string {
  const iat = Math.floor(Date.now() / 1000)
  const claims = {
    iss: HOST,
    aud: gateway.mcpUrl,
    sub: 'host',
    jti: randomUUID(),
    iat,
    exp: iat + 600,
    brand,
    role: s.who,
    route: s.readOnlyRoute ? 'read-only' : 'standard',
    ceiling: s.asks,
    grant: { connectors: s.granted },
    approval: { channel: 'none' },
  }
  return signEd({ alg: 'EdDSA', typ: 'tollgate-session+jwt', kid: 'k' }, claims, pair.privateKey)
}

async function listed(speak: Awaited<ReturnType<typeof speaker>>): Promise<string[]> {
  const names: string[] = []
  let cursor: string | undefined
  do {
    const { result } = (await speak('tools/list', cursor === undefined ? {} : { cursor })).answer
    names.push(...result.tools.map(({ name }: { name: string }) => name))
    cursor = result.nextCursor
  } while (cursor !== undefined)
  return names
}

async function check(s: Situation, token: string, era: Era): Promise<void> {
  const speak = await speaker(gateway, era, token)
  const list = await listed(speak)
  const callable: string[] = []
  for (const name of NAMES) {
    const { answer: message } = await speak('tools/call', { name, arguments: {} })
    if (message.error?.code === -32602) continue
    callable.push(name)
    const ran = message.result?.content?.[0]?.text === 'ran'
    if (ran !== (answer(`mcp__${name}`, s) === 'runs')) expect({ name, ran, s }).toBe('as the oracle says')
  }
  const wanted = NAMES.filter((name) => isGiven(`mcp__${name}`, s)).sort()
  expect({ era, list: [...list].sort(), callable: callable.sort() }).toEqual({ era, list: wanted, callable: wanted })
}

test(`${SESSIONS} sessions list what they may call, and call what they list (seed ${SEED})`, {
  timeout: 60_000 + SESSIONS * 300,
}, async () => {
  const situations = fc.sample(someSession, { numRuns: SESSIONS, seed: SEED })
  const next = situations.entries()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const [i, situation] of next) {
        const token = signed(situation, BRANDS[i]!)
        for (const era of ERAS) await check(situation, token, era)
      }
    }),
  )
})
