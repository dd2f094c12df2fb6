/**
 * What decides, runs and remembers, from the database to the gate: each part built once. No door is open yet.
 * @module
 */
import { hkdfSync, randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { bundledSkills } from '../../connectors/bundled-skills.ts'
import { connectors as catalogue } from '../../connectors/index.ts'
import { createCards } from '../approvals/cards.ts'
import { CHANGED_DEFINITION, withdrawOutdated } from '../approvals/outdated.ts'
import { createTelling } from '../approvals/webhooks/telling.ts'
import { type AuditEntry, createAudit } from '../audit/audit.ts'
import type { Config } from '../config/config.ts'
import { createRegistry } from '../connector/registry.ts'
import { slugFor } from '../connector/mcp/names.ts'
import { createMcpConnector } from '../connector/mcp/upstream.ts'
import { createWarden } from '../connector/mcp/warden.ts'
import { connect, type Tx } from '../db/connect.ts'
import { migrate } from '../db/migrate.ts'
import { createSeal } from '../db/seal.ts'
import { createGate } from '../gate/gate.ts'
import { createConnections } from '../grants/connections/connections.ts'
import { createPins, type PinChange, type PinSet } from '../grants/pins/pins.ts'
import { createRoutines } from '../grants/routines/routines.ts'
import { createHarness } from '../gate/harness.ts'
import { createHarnessConnector } from '../gate/harness-connector.ts'
import { HARNESS } from '../gate/harness-tools.ts'
import { withheldFor as withheld } from '../gate/closed.ts'
import { startRunner } from '../gate/runner.ts'
import { createSender } from '../gate/send.ts'
import { createTraces, isProven } from '../gate/traces.ts'
import { createViews } from '../gate/views.ts'
import { createLists } from '../http/mcp/lists.ts'
import { createStreams } from '../http/mcp/streams.ts'
import { createMetrics } from '../metrics.ts'
import { reaches } from '../policy/view.ts'
import type { Session } from '../policy/words.ts'
import { readClaims, toSession } from '../session/claims.ts'
import { createKeyring } from '../session/keys.ts'
import { createRevocations } from '../session/revocation.ts'
import { createCallCounts } from '../session/calls.ts'
import { createLedger } from '../session/ledger.ts'
import type { Caps } from '../session/limits.ts'
import { beginForeign } from '../session/runs.ts'
import { findSession } from '../session/sessions.ts'
import { createTokens } from '../session/token.ts'
import { VERSION } from '../version.ts'

const REMOTE_WORDS = {
  what: 'server of a brand',
  allow: 'name the host under connections.hosts in the configuration file, or set connections.allowPrivate there,',
}

/** All of the gateway but its doors. */
export type Core = Awaited<ReturnType<typeof createCore>>

/** Builds it. Throws with a sentence when the database or the keys are not to be had. */
export async function createCore(config: Config, log: Logger) {
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

  const closing = new AbortController()
  const inboxUrl = `${config.publicUrl}/inbox`
  const harness = createHarness({ gate, cards, views, inboxUrl, closing: closing.signal })
  const grants = { catalogue, skills: bundledSkills, presets: config.presets }

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
    db,
    key,
    seal,
    audit,
    keyring,
    revocations,
    caps,
    tokens,
    pins,
    routines,
    traces,
    connections,
    registry,
    views,
    telling,
    cards,
    lists,
    streams,
    metrics,
    gate,
    harness,
    grants,
    closing,
    inboxUrl,
    withheldFor,
    awake,
    /** Ends what runs by itself, in the order in which one thing needs another. The doors are closed by then. */
    async close() {
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
