/**
 * The doors: whatever speaks HTTP, over one core.
 * @module
 */
import { hkdfSync } from 'node:crypto'
import type { IncomingMessage, Server } from 'node:http'
import type { Logger } from 'pino'
import { definitionChange } from '../approvals/definitions.ts'
import type { Config } from '../config/config.ts'
import { createSeal } from '../db/seal.ts'
import { createInboundRoutes } from '../grants/inbound/routes.ts'
import { createApi } from '../http/api/api.ts'
import { createAuth } from '../http/auth.ts'
import { edgeRules } from '../http/edge.ts'
import { createPreToolUse, PRE_TOOL_USE } from '../http/hooks.ts'
import { createInbound } from '../http/inbound/door.ts'
import { INBOUND } from '../http/inbound/words.ts'
import { createInbox } from '../http/inbox/inbox.ts'
import { createCardPages } from '../http/mcp/card-page.ts'
import { createDoor } from '../http/mcp/door.ts'
import { createQuestions } from '../http/mcp/questions.ts'
import { createLegacySessions } from '../http/mcp/sessions.ts'
import { createOauthPages } from '../http/oauth.ts'
import { createPersonOf } from '../http/person.ts'
import { createHttpServer } from '../http/server.ts'
import type { Session } from '../policy/words.ts'
import { createApprovers } from '../session/approvers.ts'
import { createAdmin } from '../session/admin.ts'
import { VERSION } from '../version.ts'
import { allowancesOf, askerOf, toolOf } from './card-facts.ts'
import type { Core } from './core.ts'

const BOUNDS = { depth: 100, values: 100_000 }

/** Builds the server: MCP, REST, the inbox, inbound mail, OAuth pages and the harness's hook, each over the same core. */
export function createDoors(config: Config, log: Logger, core: Core): Server {
  const { db, key, seal, audit, keyring, revocations, caps, tokens, connections, registry, views, telling, cards } =
    core
  const {
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
    pins,
    routines,
    traces,
  } = core
  const { roles, routes } = config
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
      asker: (id) => askerOf(db, id),
      allowances: (card) => allowancesOf(db, card),
      definitionChange: (card) => definitionChange(db, card),
      isStale: (card) => (toolOf(registry, card)?.digest ?? card.digest) !== card.digest,
      work: { db, registry, connections, pins, routines, traces, cards, ownerBrand: config.ownerBrand },
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

  return server
}
