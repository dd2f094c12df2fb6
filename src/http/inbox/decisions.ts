/**
 * What a person does: approve, deny, settle, revoke. Each is one form of this sign-in, answered by a redirect, or by the
 * page as it is now with the reason why nothing was done.
 * @module
 */
import type { Context, Hono } from 'hono'
import type { Card } from '../../approvals/cards.ts'
import type { Decided, Decider } from '../../approvals/decider.ts'
import { addressOf, deciderOf, sees } from '../person.ts'
import { cardPage } from './card.ts'
import { readChoice } from './choice.ts'
import { problemBox } from './decide.ts'
import { ownQuery } from './filters.ts'
import { besides } from './pages.ts'
import type { InboxParts } from './parts.ts'
import type { Signed } from './signed.ts'
import { ownForm, type Site } from './site.ts'
import { decisionOf } from './words.ts'

/** Adds them. */
export function addDecisions(app: Hono, parts: InboxParts, site: Site): void {
  const { cards } = parts
  const { base, answers } = site

  app.post('/inbox/cards/:id/:move{approve|deny|settle}', async (c) => {
    const { id, move } = c.req.param()
    const own = await ownForm(c, site, `${base}/cards/${encodeURIComponent(id)}`)
    if (own instanceof Response) return own
    const { signed, fields } = own
    const decider = deciderIn(c, signed, fields)
    if (move === 'approve') return approve(c, signed, id, decider, fields)
    if (move === 'deny') return answered(c, signed, await cards.deny(id, decider), fields)
    const found = fields.get('outcome')
    if (found !== 'happened' && found !== 'did_not') return answers.say(c, 422, 'Say whether it happened.')
    return answered(c, signed, await cards.settle(id, decider, found), fields)
  })

  app.post('/inbox/standing/:id/revoke', async (c) => {
    const own = await ownForm(c, site, `${base}/standing`)
    if (own instanceof Response) return own
    const revoked = await cards.standing.revoke(c.req.param('id'), deciderIn(c, own.signed, own.fields))
    if (revoked.ok || revoked.problem === 'already_revoked') return c.redirect(`${base}/standing?revoked`, 303)
    return answers.say(c, 404, 'There is no such standing approval.')
  })

  async function approve(c: Context, signed: Signed, id: string, decider: Decider, fields: URLSearchParams) {
    const card = await cards.get(id)
    if (card === undefined || !sees(signed.person, card.brand)) return answers.noCard(c)
    const choice = readChoice(fields, card)
    if (!choice.ok) return refused(c, signed, card, 422, NOT_OFFERED, choice.details)
    return answered(c, signed, await cards.approve(id, decider, choice.approving), fields)
  }

  function answered(c: Context, signed: Signed, result: Decided, fields: URLSearchParams) {
    if (result.ok) {
      const query = new URLSearchParams(ownQuery(fields.get('back'), signed.person))
      query.set('decided', result.card.id)
      return c.redirect(`${base}?${query}`, 303)
    }
    switch (result.problem) {
      case 'not_found':
        return answers.noCard(c)
      case 'changed':
        return refused(c, signed, result.card, 409, CHANGED)
      case 'scope_not_offered':
      case 'bad_pattern':
        return refused(c, signed, result.card, 422, NOT_OFFERED, result.details)
      case 'not_unknown':
        return refused(c, signed, result.card, 409, 'The outcome of this call is known. Your answer changed nothing.')
      case 'already_decided':
      case 'expired': {
        const first = `${decisionOf(result.card)} Your decision came later and changed nothing.`
        return refused(c, signed, result.card, 409, first)
      }
    }
  }

  async function refused(
    c: Context,
    signed: Signed,
    card: Card,
    status: 409 | 422,
    why: string,
    details?: readonly string[],
  ) {
    const beside = { ...(await besides(parts, card)), problem: problemBox(why, details) }
    return answers.show(c, status, cardPage(card, answers.shows(signed), beside))
  }
}

const CHANGED = 'This card is not what your page showed, so nothing was decided. This is how it is now; read it again.'
const NOT_OFFERED = 'Nothing was approved, because the yes cannot reach that far.'

/** The person of this sign-in, with what they wrote and what they saw. */
function deciderIn(c: Context, { person }: Signed, fields: URLSearchParams): Decider {
  const note = (fields.get('note') ?? '').replaceAll('\r\n', '\n').trim()
  const shown = fields.get('shown') ?? ''
  const address = addressOf(c)
  return deciderOf(person, {
    via: 'inbox',
    ...(note === '' ? {} : { note }),
    ...(shown === '' ? {} : { shown }),
    ...(address === undefined ? {} : { address }),
  })
}
