/**
 * The composition root: builds each part once and hands it on. The only file that joins rooms.
 * @module
 */
import { hkdfSync, randomUUID } from 'node:crypto'
import type { IncomingMessage, Server } from 'node:http'
import type { Logger } from 'pino'
import { bundledSkills } from '../connectors/bundled-skills.ts'
import { connectors as catalogue } from '../connectors/index.ts'
import { type Card, createCards } from './approvals/cards.ts'
import { definitionChange } from './approvals/definitions.ts'
import { CHANGED_DEFINITION, withdrawOutdated } from './approvals/outdated.ts'
import { createTelling } from './approvals/webhooks/telling.ts'
import { type AuditEntry, createAudit } from './audit/audit.ts'
import type { Config } from './config/config.ts'
import { createRegistry } from './connector/registry.ts'
import { slugFor } from './connector/mcp/names.ts'
import { createMcpConnector } from './connector/mcp/upstream.ts'
import { createWarden } from './connector/mcp/warden.ts'
import { connect, type Tx } from './db/connect.ts'
import { migrate } from './db/migrate.ts'
import { createSeal } from './db/seal.ts'
import { createGate } from './gate/gate.ts'
import { createConnections } from './grants/connections/connections.ts'
import { createPins, type PinChange, type PinSet } from './grants/pins/pins.ts'
import { createRoutines } from './grants/routines/routines.ts'
import { createInboundRoutes } from './grants/inbound/routes.ts'
import { createHarness } from './gate/harness.ts'
import { createHarnessConnector } from './gate/harness-connector.ts'
import { HARNESS } from './gate/harness-tools.ts'
import { withheldFor as withheld } from './gate/closed.ts'
import { startRunner } from './gate/runner.ts'
import { createSender } from './gate/send.ts'
import { createTraces, isProven } from './gate/traces.ts'
import { createViews } from './gate/views.ts'
import { createApi } from './http/api/api.ts'
import { createAuth } from './http/auth.ts'
import { edgeRules } from './http/edge.ts'
import { createPreToolUse, PRE_TOOL_USE } from './http/hooks.ts'
import { createInbound } from './http/inbound/door.ts'
import { INBOUND } from './http/inbound/words.ts'
import { createInbox } from './http/inbox/inbox.ts'
import { createCardPages } from './http/mcp/card-page.ts'
import { createDoor } from './http/mcp/door.ts'
import { createLists } from './http/mcp/lists.ts'
import { createQuestions } from './http/mcp/questions.ts'
import { createLegacySessions } from './http/mcp/sessions.ts'
import { createStreams } from './http/mcp/streams.ts'
import { createOauthPages } from './http/oauth.ts'
import { createPersonOf } from './http/person.ts'
import { createHttpServer } from './http/server.ts'
import { createMetrics } from './metrics.ts'
import { reaches } from './policy/view.ts'
import type { Session } from './policy/words.ts'
import { createApprovers } from './session/approvers.ts'
import { createAdmin } from './session/admin.ts'
import { readClaims, toSession } from './session/claims.ts'
import { createKeyring } from './session/keys.ts'
import { createRevocations } from './session/revocation.ts'
import { createCallCounts } from './session/calls.ts'
import { createLedger } from './session/ledger.ts'
import type { Caps } from './session/limits.ts'
import { beginForeign } from './session/runs.ts'
import { findSession } from './session/sessions.ts'
import { leftOf } from './session/spend-left.ts'
import { createTokens } from './session/token.ts'
import { VERSION } from './version.ts'

const BOUNDS = { depth: 100, values: 100_000 }
const REMOTE_WORDS = {
  what: 'server of a brand',
  allow: 'name the host under connections.hosts in the configuration file, or set connections.allowPrivate there,',
}

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
  const seal = createSeal(config.secret.value, config.previousSecret)
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
  const pins = await createPins({
    db,
    audit,
    log,
    onChange: toolsChanged,
    observe: (kind, count) => metrics.observeTools(kind, count),
  })
  const routines = await createRoutines({ db, audit, log, proven: isProven, changed: () => streams.changed() })
  const connections = await createConnections({
    db,
    audit,
    seal,
    log,
    key: key('connections'),
    catalogue,
    ownerBrand: config.ownerBrand,
    host: config.hostCredentials,
    overrides: config.connectors,
    switches: config.switches,
    has: (circumstance) => circumstance === 'e2b' && config.environment === 'e2b',
    taken: new Set([HARNESS, ...config.servers.map(({ name }) => slugFor(name))]),
    changed,
    publicUrl: config.publicUrl,
    remote: { clientInfo, warden, pins, rules: { ...config.connections, words: REMOTE_WORDS } },
    needsConsent: (tx, { brand, ...data }) =>
      telling.outbox.tell(tx, { event: 'connection.needs_consent', brand, data: { brand, ...data } }),
  })
  const registry = createRegistry(
    [
      ...config.servers.map((entry) =>
        pins.guard(
          { scope: '*', newTools: entry.newTools },
          (told) => createMcpConnector(entry, { log, warden, clientInfo, ...told }),
          changed,
        ),
      ),
      createHarnessConnector(() => harness),
    ],
    connections,
  )
  const traces = createTraces(db)
  const views = createViews(registry, config.builtins, config.builtinAccess, routines)
  const telling = createTelling({
    db,
    audit,
    seal,
    log,
    rules: config.webhooks,
    inboxUrl: `${config.publicUrl}/inbox`,
    userAgent: `tollgate/${VERSION}`,
    newId: randomUUID,
  })
  const cards = createCards({
    db,
    audit,
    seal,
    timeoutMs: config.switches.APPROVAL_TIMEOUT_MS,
    leaseMs: config.approvalLeaseMs,
    log,
    newId: randomUUID,
    onMove: telling.outbox.onMove,
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
  const ledger = createLedger({ db, audit, log })
  const gate = createGate({
    views,
    registry,
    sender,
    cards,
    audit,
    revocations,
    approvalsOn: config.switches.REQUIRE_WRITE_APPROVAL,
    waitMs: config.approvalWaitMs,
    ledger,
    askAbove,
    leaseMs: config.approvalLeaseMs,
    calls,
    routines: { traces, equalCalls: config.limits.equalCalls },
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
  /** The session of a request, with the brand's own servers connected that it reaches. */
  const authenticate = (req: IncomingMessage): Session | Promise<Session> => {
    const found = auth.authenticate(req)
    return found instanceof Promise ? found.then(awake) : awake(found)
  }
  const closing = new AbortController()
  const inboxUrl = `${config.publicUrl}/inbox`
  const harness = createHarness({ gate, cards, views, inboxUrl, closing: closing.signal })
  const door = createDoor({
    authenticate,
    refuseCaller: auth.refuse,
    refusedMessage: auth.recordMessage,
    broke: (problem) => log.error({ err: problem }, 'an MCP request failed'),
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
    pages: createCardPages(key('card-pages')),
    delivered: (id) => void cards.delivered(id).catch(() => {}),
    inboxUrl,
    serverInfoText: JSON.stringify({ name: 'tollgate', title: 'Tollgate', version: VERSION }),
    firstByteMs: 2_000,
    progressMs: 10_000,
  })
  const isAdmin = createAdmin(config.adminKey.value)
  const audience = `${config.publicUrl}/v1/approvals`
  const approvers = createApprovers({ db, audit, keyring, resource: config.resource, audience, now: Date.now })
  const inboundRoutes = createInboundRoutes({ db, audit, seal, key: key('inbound') })
  const inboundOpen = config.switches.AGENTMAIL_WEBHOOK_URL_SECRET
  const grants = { catalogue, skills: bundledSkills, presets: config.presets }
  const api = createApi({
    isAdmin,
    approvers,
    db,
    audit,
    keyring,
    tokens,
    revocations,
    cards,
    webhooks: telling.webhooks,
    pins,
    routines,
    traces,
    gate,
    views,
    registry,
    connections,
    inbound: { routes: inboundRoutes, url: `${config.publicUrl}${INBOUND}`, isOpen: inboundOpen },
    grants,
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
  api.route(
    '/',
    createInbox({
      personOf: createPersonOf({ isAdmin, approvers }),
      approver: approvers.find,
      cards,
      asker: askerOf,
      allowances: allowancesOf,
      definitionChange: (card) => definitionChange(db, card),
      isStale: (card) => (toolOf(card)?.digest ?? card.digest) !== card.digest,
      seal: inboxSeal,
      inboxUrl,
      now: Date.now,
      log,
      closing: closing.signal,
    }),
  )
  api.route(
    '/',
    createInbound({
      isOpen: inboundOpen,
      inbound: inboundRoutes,
      connections,
      turns: {
        audit,
        registry,
        views,
        gate,
        tokens,
        roles,
        routes,
        builtins: config.builtins,
        grants,
        ownerBrand: config.ownerBrand,
        resource: config.resource,
        caps,
        now: Date.now,
        outbox: telling.outbox,
      },
      bodyBytes: config.limits.bodyBytes,
      log,
    }),
  )
  api.route('/', createOauthPages({ consenting: connections.consenting, publicUrl: config.publicUrl, log }))
  const server = createHttpServer({
    edge: edgeRules(config),
    door,
    exact: {
      [PRE_TOOL_USE]: createPreToolUse({
        harness,
        authenticate,
        refusedCaller: auth.recordCaller,
        refusedMessage: auth.recordMessage,
        bounds: BOUNDS,
        bodyBytes: config.limits.bodyBytes,
      }),
    },
    api: (request, bindings) => api.fetch(request, bindings),
    log,
  })

  /** What of the session's reach is away or closed right now. */
  function withheldFor(session: Session) {
    return withheld(registry, session)
  }

  /** What follows from tools that are not as they were accepted: waiting calls are taken back, and people told. */
  async function toolsChanged(tx: Tx, record: (entry: AuditEntry) => void, set: PinSet, changes: readonly PinChange[]) {
    const { scope, connector } = set
    const brand = scope === '*' ? undefined : scope
    const closed = changes.filter(({ kind }) => kind === 'changed' || kind === 'new')
    await withdrawOutdated(tx, record, { connector, brand, tools: closed }, telling.outbox.onMove)
    if (closed.length === 0) return
    const names = closed.map(({ name }) => name)
    await routines.clear(
      tx,
      record,
      { connector, brand, tools: names, because: 'definition changed' },
      CHANGED_DEFINITION,
    )
    const own = config.servers.find(({ name }) => slugFor(name) === connector)
    const brands = brand === undefined ? (own?.brands ?? []) : [brand]
    await telling.outbox.tellBrands(tx, { event: 'tool.changed', data: { connector, tools: closed } }, brands)
  }

  /** Up to what a call runs unasked: the connector's own figure, which is in its own unit, or the unit's. */
  function askAbove(connector: string, unit: string): string | undefined {
    const own = Object.hasOwn(config.spend.askAbove, connector) ? config.spend.askAbove[connector] : undefined
    return own ?? (unit === 'credits' || unit === 'usd' ? config.askAbove[unit] : undefined)
  }

  /** What is left of the allowance that a card with a cost is paid from. */
  async function allowancesOf({ id, sessionId, connector, cost }: Card) {
    const found = cost && (await leftOf(db, sessionId, connector, cost.unit, id))
    return found === undefined
      ? []
      : [{ per: 'run' as const, unit: cost?.unit ?? '', left: found.left, most: found.most }]
  }

  /** The tool of a card as it is now. */
  function toolOf({ brand, connector, tool }: Card) {
    const found = registry.find(connector, brand)
    const closed = found?.closed?.().map((one) => one.tool) ?? []
    return [...(found?.tools() ?? []), ...closed].find(({ name }) => name === tool)
  }

  /** Who holds a session, as far as its record says. */
  async function askerOf(id: string) {
    const stored = await findSession(db, id)
    if (stored === undefined) return undefined
    const { subject, coworker, parent } = stored
    return { subject, ...(coworker === null ? {} : { coworker }), ...(parent === null ? {} : { parent }) }
  }

  /** A session whose brand's own servers are connected, as far as it reaches them. */
  function awake(session: Session): Session | Promise<Session> {
    const waking = connections.wake(session.brand, (slug) => reaches(session, slug))
    return waking === undefined ? session : waking.then(() => session)
  }

  /** A session from its record, as its role and route stand today. */
  async function sessionOf(id: string): Promise<Session | undefined> {
    const stored = await findSession(db, id)
    const read = stored && readClaims(stored.claims)
    if (read === undefined || 'problem' in read) return undefined
    const session = toSession(read.claims, { roles, routes }, id)
    return typeof session === 'string' ? undefined : awake(session)
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
      registry
        .all()
        .filter(({ slug }) => slug !== HARNESS)
        .map((connector) => ({
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
      await pins.close()
      await routines.close()
      await warden.close()
      await cards.close()
      await telling.close()
      await ledger.close()
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
