/**
 * Where AgentMail tells of mail: `POST /inbound/agentmail/<secret of the address>`. Whoever does not know an address is
 * told what everybody is told where nothing is; whoever knows one and cannot sign starts nothing.
 * @module
 */
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { type AuditEntry, AuditUnavailable } from '../../audit/audit.ts'
import { DatabaseUnavailable } from '../../db/errors.ts'
import type { Connections } from '../../grants/connections/connections.ts'
import type { Where } from '../../grants/connections/rows.ts'
import type { InboundRoutes } from '../../grants/inbound/routes.ts'
import { problem } from '../problem.ts'
import { isSigned, readEvent, signedOf } from './event.ts'
import { createTurns, ROLE, type Turn, type TurnParts } from './turn.ts'
import { INBOUND } from './words.ts'

export interface InboundParts {
  /** AGENTMAIL_WEBHOOK_URL_SECRET: without it there is no such route. */
  readonly isOpen: boolean
  readonly inbound: Pick<InboundRoutes, 'find'>
  readonly connections: Pick<Connections, 'used'>
  readonly turns: TurnParts
  /** Most bytes of a delivery. */
  readonly bodyBytes: number
  readonly log: { error(facts: object, message: string): void }
}

type Found = { Variables: { found: NonNullable<Awaited<ReturnType<InboundRoutes['find']>>> } }

/** A vendor whose delivery was refused for a while tries again by itself; no sooner than after so many seconds. */
const AGAIN_S = '300'

/** Builds the route. */
export function createInbound({ isOpen, inbound, connections, turns, bodyBytes, log }: InboundParts): Hono<Found> {
  const app = new Hono<Found>()
  if (!isOpen) return app
  const startTurn = createTurns(turns)
  const refused = (entry: Omit<AuditEntry, 'kind'>) =>
    turns.audit.record({ kind: 'inbound.refused', role: ROLE, ...entry })

  app.post(`${INBOUND}/:secret`, async (c, next) => {
    const found = await inbound.find(c.req.param('secret'))
    if (found === undefined) return c.notFound()
    c.set('found', found)
    return next()
  })

  const tooLarge = () => problem(413, 'body_too_large', `The body is larger than ${bodyBytes} bytes.`)
  app.post(`${INBOUND}/:secret`, bodyLimit({ maxSize: bodyBytes, onError: tooLarge }), async (c) => {
    const { where, signingSecret } = c.get('found')
    const { brand, slug } = where
    const used = connections.used(where)
    if (signingSecret === undefined || used === undefined) {
      const missing =
        signingSecret === undefined ? `no signing secret (PUT /v1/connections/${slug}/inbound)` : 'no connection'
      const because = `There is ${missing}, so nothing was started.`
      refused({ brand, connector: slug, reason: because })
      return later(503, 'not_ready', because)
    }
    const signed = signedOf((name) => c.req.header(name))
    const body = await c.req.text()
    if (signed === undefined || !isSigned(signed, body, signingSecret)) {
      refused({
        brand,
        connector: slug,
        reason: 'A delivery whose signature is missing, wrong, or older than 5 minutes.',
      })
      return problem(401, 'signature', 'The signature is missing, wrong, or older than 5 minutes.')
    }
    const event = readEvent(body)
    if (event.kind === 'unreadable') {
      refused({ brand, connector: slug, reason: `The delivery ${signed.id} cannot be read.` })
      return problem(400, 'unreadable', 'This is no event of AgentMail that can be read.')
    }
    if (event.kind === 'other') return done('ignored', 'Only message.received starts a session.')
    const { inbox = '' } = used.settings
    if (event.mail.inboxId.toLowerCase() !== inbox.toLowerCase()) {
      refused({
        brand,
        connector: slug,
        reason: `The delivery ${signed.id} is of another inbox than the connection's.`,
      })
      return done('ignored', 'The message is in another inbox than that of the connection.')
    }
    const turn = await startTurn(where, event.mail, signed.id)
    if ('because' in turn) await writtenDown(where, signed.id, turn)
    return answerTo(turn)
  })

  /** Durable before the vendor is answered, since it is all that is left of the mail here. */
  function writtenDown(
    { brand, slug }: Where,
    delivery: string,
    { kind, because }: Extract<Turn, { because: string }>,
  ) {
    const code = kind === 'limited' ? ('rate_limited' as const) : undefined
    const reason = `The delivery ${delivery} started no session. ${because}`
    return turns.audit.commit({ kind: 'inbound.refused', brand, connector: slug, role: ROLE, code, reason })
  }

  app.onError((error) => {
    if (error instanceof DatabaseUnavailable || error instanceof AuditUnavailable)
      return later(503, 'unavailable', 'The gateway cannot reach its database; send it again.')
    log.error({ err: error }, 'an inbound delivery failed')
    return problem(500, 'internal', 'The gateway failed inside; its log says why.')
  })
  return app
}

/** A 2xx ends the delivery; everything else brings it again. */
function answerTo(turn: Turn): Response {
  if (turn.kind === 'started') return done('started')
  if (turn.kind === 'duplicate') return done('duplicate', 'It has started its session already.')
  if (turn.kind === 'limited') return later(429, 'rate_limited', turn.because)
  return later(503, turn.kind === 'nobody' ? 'no_receiver' : 'not_ready', turn.because)
}

const later = (status: number, code: string, because: string): Response =>
  problem(status, code, because, {}, { 'retry-after': AGAIN_S })

const done = (status: string, because?: string): Response =>
  new Response(JSON.stringify({ status, ...(because !== undefined && { because }) }), {
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  })
