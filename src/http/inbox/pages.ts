/**
 * The pages that only show: the inbox, a card, the history, standing approvals; and what keeps them live.
 * @module
 */
import type { Context, Hono } from 'hono'
import { CARD_STATUSES, type Card, type CardStatus } from '../../approvals/cards.ts'
import { sees } from '../person.ts'
import { type Beside, cardPage } from './card.ts'
import { matches, queryOf, readFilters } from './filters.ts'
import { historyPage } from './history.ts'
import { listPage } from './list.ts'
import type { InboxParts } from './parts.ts'
import type { Signed } from './signed.ts'
import type { Site } from './site.ts'
import { standingPage } from './standing.ts'
import { follow } from './stream.ts'
import { waitingCard } from './waiting.ts'

const WAITING = 20
const UNSETTLED = 10
const DECIDED = 10
const HISTORY = 50
const STANDING = 50
const MOST_STREAMS = 500
const ENDED = CARD_STATUSES.filter((status) => status !== 'pending')
const LATELY = ENDED.filter((status) => status !== 'unknown')

/** Adds them. */
export function addPages(app: Hono, parts: InboxParts, { base, entry, answers }: Site): void {
  const { cards } = parts
  const { show, shows, say, noCard, askToSignIn } = answers
  const oldAddress = (c: Context) => say(c, 400, 'This address is not one that the inbox gave out.')
  let streams = 0

  const filtersOf = (c: Context, { person }: Signed) => readFilters(new URL(c.req.url).searchParams, person)
  const pageAfter = (c: Context) => (c.req.query('after') ? { cursor: c.req.query('after') as string } : {})
  const waitingNow = (c: Context, signed: Signed) =>
    cards.list({ status: 'pending', order: 'oldest', limit: WAITING, ...filtersOf(c, signed) })

  app.get('/inbox', async (c) => {
    const signed = await entry.signed(c)
    if (signed === undefined) return askToSignIn(c, base)
    const filters = filtersOf(c, signed)
    const after = pageAfter(c)
    const pending = { status: 'pending', order: 'oldest', limit: WAITING, ...filters, ...after } as const
    const waiting = await inBounds(() => cards.list(pending))
    if (waiting === undefined) return oldAddress(c)
    const justNow = await seen(signed, c.req.query('decided') ?? '')
    const isFirst = after.cursor === undefined
    const last = async (statuses: readonly CardStatus[], limit: number) =>
      isFirst ? (await cards.list({ statuses, limit, ...filters })).items : []
    const unsettled = await last(['unknown'], UNSETTLED)
    const decided = await last(LATELY, DECIDED)
    return show(c, 200, listPage(shows(signed), { filters, waiting, unsettled, decided, ...(justNow && { justNow }) }))
  })

  app.get('/inbox/', (c) => c.redirect(base, 308))

  app.get('/inbox/cards/:id', async (c) => {
    const id = c.req.param('id')
    const signed = await entry.signed(c)
    if (signed === undefined) return askToSignIn(c, `${base}/cards/${encodeURIComponent(id)}`)
    const card = await seen(signed, id)
    if (card === undefined) return noCard(c)
    // As it stands in the list, for a page that is open there.
    if (c.req.query('as') === 'item') {
      return c.html(waitingCard(card, shows(signed), queryOf(filtersOf(c, signed), signed.person)))
    }
    return show(c, 200, cardPage(card, shows(signed), await besides(parts, card)))
  })

  app.get('/inbox/history', async (c) => {
    const signed = await entry.signed(c)
    if (signed === undefined) return askToSignIn(c, `${base}/history`)
    const filters = filtersOf(c, signed)
    const ended = await inBounds(() => cards.list({ statuses: ENDED, limit: HISTORY, ...filters, ...pageAfter(c) }))
    return ended === undefined ? oldAddress(c) : show(c, 200, historyPage(shows(signed), { filters, ended }))
  })

  app.get('/inbox/standing', async (c) => {
    const signed = await entry.signed(c)
    if (signed === undefined) return askToSignIn(c, `${base}/standing`)
    const { brand, tool } = filtersOf(c, signed)
    const filters = { ...(brand === undefined ? {} : { brand }), ...(tool === undefined ? {} : { tool }) }
    const found = await inBounds(() => cards.standing.list({ limit: STANDING, ...filters, ...pageAfter(c) }))
    if (found === undefined) return oldAddress(c)
    const told = c.req.query('revoked') === undefined ? {} : { told: 'It is revoked. The next such call asks again.' }
    return show(c, 200, standingPage(shows(signed), { filters, found, ...told }))
  })

  app.get('/inbox/events', async (c) => {
    const signed = await entry.signed(c)
    if (signed === undefined) return say(c, 401, 'You are not signed in.')
    if (streams >= MOST_STREAMS) return say(c, 503, 'Too many pages are open. This one does not change by itself.')
    const filters = filtersOf(c, signed)
    const only = c.req.query('card')
    streams++
    return follow(c, {
      cards,
      wanted: (card) =>
        sees(signed.person, card.brand) && (only === undefined ? matches(filters, card) : card.id === only),
      waiting: async () => (only === undefined ? (await waitingNow(c, signed)).items.map(({ id }) => id) : []),
      alive: async () => (await entry.signed(c)) !== undefined,
      closing: parts.closing,
      onEnd: () => streams--,
    })
  })

  /** A card, for a person who may see it; another brand's never was. */
  async function seen({ person }: Signed, id: string): Promise<Card | undefined> {
    const card = await cards.get(id)
    return card !== undefined && sees(person, card.brand) ? card : undefined
  }
}

/** What a card's page shows besides the card. */
export async function besides(parts: InboxParts, card: Card): Promise<Beside> {
  const asker = await parts.asker(card.sessionId)
  const definition = await parts.definitionChange(card)
  const allowances = card.cost === undefined ? undefined : await parts.allowances?.(card)
  const stale = card.status === 'pending' && parts.isStale(card)
  const ran = await parts.work?.traces.ofSession(card.sessionId, { limit: 1 })
  const run = ran?.[0]?.brand === card.brand && `${new URL(parts.inboxUrl).pathname}/traces/${card.sessionId}`
  return {
    stale,
    ...(run && { trace: run }),
    ...(asker && { asker }),
    ...(definition && { definition }),
    ...(allowances && { allowances }),
  }
}

/** Undefined for a cursor that no list gave out. */
async function inBounds<T>(list: () => Promise<T>): Promise<T | undefined> {
  try {
    return await list()
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
