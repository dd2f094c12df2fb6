/**
 * A person's decisions over REST: yes, no, and what became of a call whose outcome is unknown.
 * @module
 */
import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { type Decided, type Decider, SCOPES } from '../../approvals/cards.ts'
import { addressOf, deciderOf } from '../person.ts'
import { brokenRules, problem } from '../problem.ts'
import { answer, answers, body } from './answer.ts'
import * as cardSchemas from './card-schemas.ts'
import { noCard, PEOPLE, shown, shownStanding } from './card-view.ts'
import type { ApiParts } from './parts.ts'
import * as requests from './requests.ts'

const approveRoute = createRoute({
  method: 'post',
  path: '/v1/approvals/{id}/approve',
  summary: 'Approve exactly this call: once, or as far as the scope says',
  security: PEOPLE,
  request: { params: requests.id, body: body(requests.approveBody, false) },
  responses: answers(200, 'The approved card.', cardSchemas.decidedCard, 404, 409, 422, 503),
})

const denyRoute = createRoute({
  method: 'post',
  path: '/v1/approvals/{id}/deny',
  summary: 'Deny this call',
  security: PEOPLE,
  request: { params: requests.id, body: body(requests.denyBody, false) },
  responses: answers(200, 'The denied card.', cardSchemas.decidedCard, 404, 409, 422, 503),
})

const settleRoute = createRoute({
  method: 'post',
  path: '/v1/approvals/{id}/settle',
  summary: 'Say whether a call of unknown outcome happened; nothing is run',
  security: PEOPLE,
  request: { params: requests.id, body: body(requests.settleBody) },
  responses: answers(200, 'The settled card.', cardSchemas.decidedCard, 404, 409, 422, 503),
})

/** Adds the routes. */
export function addDecisions(app: OpenAPIHono, { cards }: ApiParts): void {
  app.openapi(approveRoute, async (c) => {
    const { id } = c.req.valid('param')
    const { scope = 'once', similar, ...how } = c.req.valid('json')
    if (!isScope(scope)) return notOffered(scope, 'the scopes are once, session and always')
    const approving = requests.given({ scope, similar })
    return decided(await cards.approve(id, deciding(c, how), approving), id, scope)
  })

  app.openapi(denyRoute, async (c) => {
    const { id } = c.req.valid('param')
    return decided(await cards.deny(id, deciding(c, c.req.valid('json'))), id)
  })

  app.openapi(settleRoute, async (c) => {
    const { id } = c.req.valid('param')
    const { outcome, ...how } = c.req.valid('json')
    return decided(await cards.settle(id, deciding(c, how), outcome), id)
  })
}

/** Who decides, and from where. The command line says that it is one; anybody could, so it proves nothing. */
export function deciding(
  c: Context,
  how: { readonly note?: string | undefined; readonly shown?: string | undefined } = {},
): Decider {
  const via = c.req.header('user-agent')?.startsWith('tollgate-cli/') ? 'cli' : 'rest'
  const { note, shown } = how
  return deciderOf(c.get('person'), { via, ...requests.given({ address: addressOf(c), note, shown }) })
}

type Scope = (typeof SCOPES)[number]
const isScope = (text: string): text is Scope => SCOPES.some((scope) => scope === text)

function decided(result: Decided, id: string, scope = ''): Response {
  if (result.ok) {
    const left = result.standing === undefined ? {} : { standingApproval: shownStanding(result.standing) }
    return answer(cardSchemas.decidedCard, { ...shown(result.card), ...left })
  }
  if (result.problem === 'not_found') return noCard(id)
  const { card } = result
  const conflict = (code: string, detail: string) => problem(409, code, detail, { card: shown(card) })
  switch (result.problem) {
    case 'expired':
      return conflict(
        'approval_expired',
        `Nobody decided before ${card.expiresAt}, so the call was denied. It did not run.`,
      )
    case 'changed':
      return conflict('card_changed', 'This is not what you were shown; read the card again, and decide on that.')
    case 'not_unknown':
      return conflict('not_unknown', `Only an unknown outcome is settled; this call is ${card.status}.`)
    case 'scope_not_offered':
      return notOffered(scope, result.details?.join(' ') ?? `this card offers ${card.scopes.join(' and ')}`)
    case 'bad_pattern':
      return brokenRules(
        (result.details ?? ['The pattern cannot stand.']).map((detail) => ({
          path: 'similar',
          rule: 'bad_pattern',
          detail,
        })),
      )
    case 'already_decided': {
      if (card.settled !== undefined && card.settledBy !== undefined) {
        return conflict('already_decided', `This call was settled by ${card.settledBy} at ${card.settledAt}.`)
      }
      const who = card.decidedBy === undefined ? '' : ` by ${card.decidedBy} at ${card.decidedAt}`
      const word = card.status === 'denied' || card.status === 'withdrawn' ? card.status : 'approved'
      return conflict('already_decided', `This call was ${word}${who}; a decision stands.`)
    }
  }
}

function notOffered(scope: string, why: string): Response {
  const detail = `The scope ${JSON.stringify(scope.slice(0, 40))} is not offered: ${why.replace(/\.$/, '')}.`
  return brokenRules([{ path: 'scope', rule: 'scope_not_offered', detail }])
}
