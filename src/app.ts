/**
 * The composition root: builds each part once and hands it on. The only file that joins rooms.
 * @module
 */
import { hkdfSync, randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import type { Logger } from 'pino'
import { bundledSkills } from '../connectors/bundled-skills.ts'
import { connectors as catalogue } from '../connectors/index.ts'
import { createCards } from './approvals/cards.ts'
import { createAudit } from './audit/audit.ts'
import type { Config } from './config/config.ts'
import { createRegistry } from './connector/registry.ts'
import { createMcpConnector } from './connector/mcp/upstream.ts'
import { createWarden } from './connector/mcp/warden.ts'
import { connect } from './db/connect.ts'
import { migrate } from './db/migrate.ts'
import { createSeal } from './db/seal.ts'
import { createGate } from './gate/gate.ts'
import { startRunner } from './gate/runner.ts'
import { createSender } from './gate/send.ts'
import { createViews } from './gate/views.ts'
import { createApi } from './http/api/api.ts'
import { createAuth } from './http/auth.ts'
import { edgeRules } from './http/edge.ts'
import { createInbox } from './http/inbox/inbox.ts'
import { createDoor } from './http/mcp/door.ts'
import { createLists } from './http/mcp/lists.ts'
import { createQuestions } from './http/mcp/questions.ts'
import { createLegacySessions } from './http/mcp/sessions.ts'
import { createStreams } from './http/mcp/streams.ts'
import { createHttpServer } from './http/server.ts'
import { createMetrics } from './metrics.ts'
import { reaches } from './policy/view.ts'
import type { Session } from './policy/words.ts'
import { createAdmin } from './session/admin.ts'
import { readClaims, toSession } from './session/claims.ts'
import { createKeyring } from './session/keys.ts'
import { createRevocations } from './session/revocation.ts'
import { createCallCounts } from './session/calls.ts'
import type { Caps } from './session/limits.ts'
import { beginForeign } from './session/runs.ts'
import { findSession } from './session/sessions.ts'
import { createTokens } from './session/token.ts'
import { VERSION } from './version.ts'

/** How long an approved call may run before its outcome counts as unknown: more than any call is let run. */
const LEASE_MS = 10 * 60_000
const BOUNDS = { depth: 100, values: 100_000 }

export interface App {
  readonly server: Server
  readonly database: 'pglite' | 'postgres'
  /** Waits until every configured upstream is ready or has failed once, up to `ms`. */
  settled(ms: number): Promise<void>
  /** What each configured upstream is doing. */
  upstreams(): readonly {
    readonly slug: string
    readonly state: string
    readonly detail: string
    readonly tools: number
  }[]
  close(): Promise<void>
}

/** Builds the gateway. Throws with a sentence when the database or the keys are not to be had. */
export async function createApp(config: Config, log: Logger): Promise<App> {
  const db = await connect({
    ...(config.databaseUrl === undefined ? {} : { url: config.databaseUrl }),
    folder: config.dataFolder,
    log,
  })
  await migrate(db)
  const key = (purpose: string): Buffer => Buffer.from(hkdfSync('sha256', config.secret.value, '', purpose, 32))
  const seal = createSeal(config.secret.value)
  const audit = createAudit({ db, log })
  const keyring = await createKeyring({ db, seal, log, audit })
  const revocations = createRevocations({ db, log })
  const { roles, routes } = config
  const caps: Caps = {
    liveSessionsPerBrand: config.limits.liveSessionsPerBrand,
    startsPerHour: { 'inbound-email': config.limits.inboundTurnsPerHour },
    dayUsd: { 'goal-reviewer': config.goalsReviewDailyUsd },
  }
  const tokens = createTokens({
    keyring,
    resource: config.resource,
    issuers: config.issuers,
    roles,
    routes,
    now: Date.now,
    record: (session, claims) => beginForeign(audit, session, claims, caps),
  })

  const warden = createWarden({ log })
  const changed = (): void => registry.changed()
  const clientInfo = { name: 'tollgate', version: VERSION }
  const registry = createRegistry(
    config.servers.map((entry) => createMcpConnector(entry, { log, warden, changed, clientInfo })),
  )
  const views = createViews(registry, config.builtins)
  const cards = createCards({
    db,
    audit,
    seal,
    timeoutMs: config.switches.APPROVAL_TIMEOUT_MS,
    leaseMs: LEASE_MS,
    log,
    newId: randomUUID,
  })

  const lists = createLists({ pageSize: config.limits.listPageSize, key: key('cursors'), withheld: withheldFor })
  const streams = createStreams({
    viewOf: views.of,
    lists,
    now: Date.now,
    debounceMs: 50,
    keepAliveMs: 15_000,
    mostPerSession: 20,
  })
  const metrics = createMetrics(() => streams.size)
  const sender = createSender(registry)
  const most = config.limits.callsPerSession
  const calls = most === undefined ? undefined : createCallCounts(db, most)
  const gate = createGate({
    views,
    registry,
    sender,
    cards,
    audit,
    revocations,
    approvalsOn: config.switches.REQUIRE_WRITE_APPROVAL,
    waitMs: config.approvalWaitMs,
    calls,
    now: Date.now,
    observe: metrics.observe,
  })
  const stopRunner = startRunner({ cards, gate, log, sessionOf })
  registry.onChange(streams.changed)
  revocations.onDead(streams.end)
  if (calls !== undefined) revocations.onDead(calls.forget)

  const metadataPath = '/.well-known/oauth-protected-resource/mcp'
  const auth = createAuth({
    tokens,
    revocations,
    audit,
    metadataUrl: config.authorizationServers.length > 0 ? `${config.publicUrl}${metadataPath}` : undefined,
  })
  const closing = new AbortController()
  const inboxUrl = `${config.publicUrl}/inbox`
  const door = createDoor({
    authenticate: auth.authenticate,
    refuseCaller: auth.refuse,
    refusedMessage: auth.recordMessage,
    viewOf: views.of,
    withheldFor,
    sessions: createLegacySessions(key('mcp-sessions')),
    streams,
    bounds: BOUNDS,
    bodyBytes: config.limits.bodyBytes,
    closing: closing.signal,
    gate,
    lists,
    questions: createQuestions(key('request-state')),
    delivered: (id) => void cards.delivered(id).catch(() => {}),
    inboxUrl,
    serverInfoText: JSON.stringify({ name: 'tollgate', title: 'Tollgate', version: VERSION }),
    firstByteMs: 2_000,
    progressMs: 10_000,
  })
  const isAdmin = createAdmin(config.adminKey.value)
  const api = createApi({
    isAdmin,
    db,
    audit,
    keyring,
    tokens,
    revocations,
    cards,
    gate,
    views,
    registry,
    grants: { catalogue, skills: bundledSkills, presets: config.presets },
    roles,
    routes,
    builtins: config.builtins,
    ownerBrand: config.ownerBrand,
    resource: config.resource,
    inboxUrl,
    authorizationServers: config.authorizationServers,
    caps,
    metrics: metrics.registry,
    log,
    now: Date.now,
    closing: closing.signal,
  })
  // Under a key of its own, which changes with the admin key: a new key ends every sign-in.
  const inboxKey = Buffer.from(hkdfSync('sha256', config.secret.value, config.adminKey.value, 'inbox', 32))
  const inboxSeal = createSeal(inboxKey.toString('base64url'))
  api.route('/', createInbox({ isAdmin, cards, seal: inboxSeal, inboxUrl, now: Date.now, log }))
  const server = createHttpServer({
    edge: edgeRules(config),
    door,
    api: (request) => api.fetch(request),
    log,
  })

  /** What of the session's reach is away right now. */
  function withheldFor(session: Session) {
    if (registry.withheld(session.brand).length === 0) return []
    const connectors = registry.connectors(session.brand)
    return connectors.filter(({ slug }) => reaches(session, slug)).flatMap((connector) => connector.withheld())
  }

  /** A session from its record, as its role and route stand today. */
  async function sessionOf(id: string): Promise<Session | undefined> {
    const stored = await findSession(db, id)
    const read = stored && readClaims(stored.claims)
    if (read === undefined || 'problem' in read) return undefined
    const session = toSession(read.claims, { roles, routes }, id)
    return typeof session === 'string' ? undefined : session
  }

  return {
    server,
    database: db.kind,
    async settled(ms) {
      const busy = (): boolean =>
        config.servers.length > 0 && registry.all().some((connector) => connector.state().state === 'connecting')
      const until = performance.now() + ms
      while (busy() && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 25))
    },
    upstreams: () =>
      registry.all().map((connector) => ({
        slug: connector.slug,
        ...connector.state(),
        tools: connector.tools().length,
      })),
    async close() {
      streams.close()
      closing.abort()
      await closeServer(server)
      sender.close()
      await stopRunner()
      await registry.close()
      await warden.close()
      await cards.close()
      await revocations.close()
      keyring.close()
      await audit.close()
      await db.close()
    },
  }
}

/** Stops taking connections, lets calls in flight end for a while, then cuts what is left. */
async function closeServer(server: Server, graceMs = 20_000): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  // A connection that is busy now would stay open after its answer, and bring the next call.
  server.prependListener('request', (_req, res) => res.setHeader('connection', 'close'))
  const sweep = setInterval(() => server.closeIdleConnections(), 50)
  const timer = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearInterval(sweep)
  clearTimeout(timer)
}
