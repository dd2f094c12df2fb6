/**
 * The REST API over real parts: a database, the shipped policies, and connectors that live in this process.
 * @module
 */
import { createHash, randomUUID } from 'node:crypto'
import { Registry as Prometheus } from 'prom-client'
import { type Cards, createCards } from '../../src/approvals/cards.ts'
import { createTelling } from '../../src/approvals/webhooks/telling.ts'
import { type Audit, createAudit } from '../../src/audit/audit.ts'
import { readFolder, shippedPolicies } from '../../src/config/files.ts'
import type { Connector, RegisteredTool, UpstreamCall } from '../../src/connector/connector.ts'
import { createRegistry, type Registry } from '../../src/connector/registry.ts'
import type { Database } from '../../src/db/connect.ts'
import { createPins } from '../../src/grants/pins/pins.ts'
import { createConnections } from '../../src/grants/connections/connections.ts'
import { createRoutines } from '../../src/grants/routines/routines.ts'
import { createInboundRoutes } from '../../src/grants/inbound/routes.ts'
import { createSeal } from '../../src/db/seal.ts'
import { createGate, type Gate } from '../../src/gate/gate.ts'
import { createSender } from '../../src/gate/send.ts'
import { createTraces, isProven } from '../../src/gate/traces.ts'
import { createViews } from '../../src/gate/views.ts'
import { createApi } from '../../src/http/api/api.ts'
import type { ApiParts } from '../../src/http/api/parts.ts'
import { readPolicies } from '../../src/policy/role-file.ts'
import type { Access, Session } from '../../src/policy/words.ts'
import { type Approvers, createApprovers } from '../../src/session/approvers.ts'
import { createAdmin } from '../../src/session/admin.ts'
import { readClaims, toSession } from '../../src/session/claims.ts'
import { createKeyring } from '../../src/session/keys.ts'
import { createRevocations } from '../../src/session/revocation.ts'
import { findSession } from '../../src/session/sessions.ts'
import { createTokens, type Tokens } from '../../src/session/token.ts'
import { NO_REMOTES } from '../support/remote.ts'
import { freshDatabase, quiet } from '../support/database.ts'
import { paying } from '../support/spend.ts'
import { grantSupply } from './coworker-world.ts'

export const ADMIN_KEY = 'an-admin-key-of-the-api-tests'
export const RESOURCE = 'http://127.0.0.1:8787/mcp'
const SECRET = 'a secret of the api tests, long enough for anyone'

export interface World {
  readonly db: Database
  readonly audit: Audit
  readonly cards: Cards
  readonly gate: Gate
  readonly registry: Registry
  readonly tokens: Tokens
  readonly approvers: Approvers
  /** The app under test. */
  request(path: string, init?: RequestInit, env?: object): Promise<Response>
  /** One request as the operator; the answer's JSON. */
  ask(method: string, path: string, body?: unknown): Promise<{ status: number; headers: Headers; body: any }>
  /** Issues a session. */
  issue(request: Record<string, unknown>): Promise<any>
  /** The session of an issued token, as a door would have it. */
  session(id: string): Promise<Session>
  /** Parks a gated call of a session; the card. */
  park(sessionId: string, tool: string, args: object): Promise<{ id: string }>
  close(): Promise<void>
}

/** A world with the connectors `files` (ready), `search` (ready, another brand's too), `shop` (of a third brand) and `slow` (never ready). */
export async function createWorld(parts: Partial<ApiParts> = {}, cardTimeoutMs = 60_000): Promise<World> {
  const { db, close } = await freshDatabase()
  const policies = readPolicies(readFolder(shippedPolicies(), '', []), { sandbox: false })
  if (!policies.ok) throw new Error(policies.problems.join('\n'))
  const { roles, routes, builtins } = policies.policies
  const seal = createSeal(SECRET)
  const audit = createAudit({ db, log: quiet })
  const keyring = await createKeyring({ db, seal, log: quiet, audit })
  const revocations = createRevocations({ db, log: quiet })
  const now = Date.now
  const tokens = createTokens({
    keyring,
    resource: RESOURCE,
    issuers: [],
    roles,
    routes,
    now,
    record: async () => 'live',
  })
  const routines = await createRoutines({ db, audit, log: quiet, proven: isProven, changed: () => {} })
  const pins = await createPins({ db, audit, log: quiet, onChange: async () => {} })
  const connections = await createConnections({
    db,
    audit,
    seal,
    log: quiet,
    key: Buffer.from(SECRET),
    catalogue: grantSupply().catalogue,
    ownerBrand: 'default',
    host: {},
    overrides: {},
    switches: {},
    has: () => false,
    taken: new Set(),
    ...NO_REMOTES,
    changed: () => registry.changed(),
  })
  const registry = createRegistry(connectors(), connections)
  const views = createViews(registry, builtins, undefined, routines)
  const telling = createTelling({
    db,
    audit,
    seal,
    log: quiet,
    rules: { allowPrivate: false, hosts: ['127.0.0.1'] },
    inboxUrl: 'http://127.0.0.1:8787/inbox',
    userAgent: 'tollgate/test',
    newId: randomUUID,
  })
  const cards = createCards({
    db,
    audit,
    seal,
    timeoutMs: cardTimeoutMs,
    leaseMs: 60_000,
    log: quiet,
    newId: randomUUID,
    onMove: telling.outbox.onMove,
  })
  const observe = () => {}
  const gate = createGate({
    views,
    registry,
    sender: createSender(registry),
    cards,
    audit,
    revocations,
    approvalsOn: true,
    waitMs: 0,
    now,
    observe,
    routines: { traces: createTraces(db), equalCalls: 20 },
    ...paying(db, audit),
  })
  const approvers = createApprovers({
    db,
    audit,
    keyring,
    resource: RESOURCE,
    audience: `${new URL(RESOURCE).origin}/v1/approvals`,
    now,
  })
  const app = createApi({
    isAdmin: createAdmin(ADMIN_KEY),
    approvers,
    db,
    audit,
    cards,
    webhooks: telling.webhooks,
    registry,
    connections,
    pins,
    routines,
    traces: createTraces(db),
    inbound: {
      routes: createInboundRoutes({ db, audit, seal, key: new Uint8Array(32) }),
      url: 'http://gateway.test/inbound/agentmail',
      isOpen: false,
    },
    views,
    gate,
    tokens,
    keyring,
    revocations,
    metrics: new Prometheus(),
    caps: {},
    grants: grantSupply(),
    roles,
    routes,
    builtins,
    ownerBrand: 'default',
    resource: RESOURCE,
    inboxUrl: 'http://127.0.0.1:8787/inbox',
    authorizationServers: [],
    now,
    log: quiet,
    closing: new AbortController().signal,
    ...parts,
  })

  const world: World = {
    db,
    audit,
    cards,
    gate,
    registry,
    tokens,
    approvers,
    request: async (path, init, env) => app.request(path, init, env),
    async ask(method, path, body) {
      const headers: Record<string, string> = { authorization: `Bearer ${ADMIN_KEY}` }
      if (body !== undefined) headers['content-type'] = 'application/json'
      const response = await app.request(path, {
        method,
        headers,
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      return { status: response.status, headers: response.headers, body: await response.json() }
    },
    async issue(request) {
      const { status, body } = await world.ask('POST', '/v1/sessions', request)
      if (status !== 201) throw new Error(JSON.stringify(body))
      return body
    },
    async session(id) {
      const stored = await findSession(db, id)
      const read = readClaims(stored?.claims)
      const session = 'problem' in read ? read.problem : toSession(read.claims, { roles, routes }, id)
      if (typeof session === 'string') throw new Error(session)
      return session
    },
    async park(sessionId, tool, args) {
      const session = await world.session(sessionId)
      const outcome = await gate.call({
        session,
        written: tool,
        name: tool,
        tool: views.of(session).byName.get(tool),
        argumentsText: JSON.stringify(args),
        extraText: '',
        metaText: '',
        elicitation: { form: false, url: false },
        onProgress: undefined,
        ask: async () => new Map(),
        onHold: () => {},
      }).outcome
      if (outcome.kind !== 'pending') throw new Error(JSON.stringify(outcome))
      return outcome.card
    },
    async close() {
      await cards.close()
      await telling.close()
      await revocations.close()
      await keyring.close()
      await audit.close()
      await registry.close()
      await pins.close()
      await routines.close()
      await close()
    },
  }
  return world
}

function connectors(): Connector[] {
  const files = [
    tool('files', 'read_file', 'read', { grantable: true }),
    tool('files', 'delete_file', 'read', { ask: true }),
    tool('files', 'write_file', 'write'),
  ]
  return [
    connector('files', files, ['default']),
    connector('search', [tool('search', 'find', 'read', { grantable: true })], ['default', 'acme']),
    connector('shop', [tool('shop', 'sell', 'write', { standing: true })], ['rival']),
    {
      ...connector('slow', [], ['default']),
      state: () => ({ state: 'connecting', detail: 'It did not answer yet.' }),
      withheld: () => [{ tool: 'mcp__slow__*', code: 'upstream_unavailable', reason: 'slow did not answer yet.' }],
    },
  ]
}

function connector(slug: string, tools: RegisteredTool[], brands: string[]): Connector {
  return {
    slug,
    title: slug,
    serves: (brand) => brands.includes(brand),
    state: () => ({ state: 'ready', detail: `${tools.length} tools` }),
    tools: () => tools,
    withheld: () => [],
    call: ({ tool }: UpstreamCall) => ({
      answer: Promise.resolve({
        kind: 'result',
        members: `"content":[{"type":"text","text":"${tool.ownName} ran"}]`,
        metaText: '',
        isError: false,
      }),
      cancel: () => {},
    }),
    close: async () => {},
  }
}

function tool(slug: string, name: string, access: Access, more: Partial<RegisteredTool> = {}): RegisteredTool {
  return {
    name: `mcp__${slug}__${name}`,
    connector: slug,
    access,
    ask: false,
    grantable: false,
    upstreamName: name,
    ownName: name,
    title: undefined,
    description: undefined,
    definition: { legacy: ',"inputSchema":{"type":"object"}', modern: ',"inputSchema":{"type":"object"}' },
    digest: createHash('sha256').update(name).digest('hex'),
    upstream: 'far side',
    ...more,
  }
}
