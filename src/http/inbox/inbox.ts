/**
 * The inbox: the pages where a person reads what waits and decides it. They work without JavaScript, and nothing but a
 * POST with the page's own token, sent from this very site by somebody signed in, decides anything.
 * @module
 */
import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { Card, CardPage, Cards, CardStatus, Decided } from '../../approvals/cards.ts'
import { AuditUnavailable } from '../../audit/audit.ts'
import { DatabaseUnavailable } from '../../db/errors.ts'
import type { Seal } from '../../db/seal.ts'
import { cardPage } from './card.ts'
import { fieldsOf, sameSite } from './form.ts'
import { createFrame, type Frame, type Show } from './frame.ts'
import { listPage } from './list.ts'
import { messagePage, signInPage } from './sign-in.ts'
import { createSignIn, type Signed } from './signed.ts'
import { decisionOf } from './words.ts'

export interface InboxParts {
  /** Whether an `Authorization` header carries the admin key. */
  readonly isAdmin: (authorization: string | undefined) => boolean
  readonly cards: Pick<Cards, 'get' | 'list' | 'approve' | 'deny'>
  /** Seals what a browser keeps; best under a key that serves nothing else. */
  readonly seal: Seal
  /** Where people open the inbox; its path is the base of every link. */
  readonly inboxUrl: string
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly log: { error(facts: object, message: string): void }
}

const MOST_BYTES = 65_536
const WAITING = 20
const DECIDED = 20
/** Everything but `pending`. */
const DECIDED_STATUSES = [
  'approved',
  'running',
  'done',
  'failed',
  'unknown',
  'denied',
  'expired',
  'withdrawn',
] as const satisfies CardStatus[]

/** Builds the pages: everything at `/inbox` and below. */
export function createInbox(parts: InboxParts): Hono {
  const { isAdmin, cards, seal, inboxUrl, now, log } = parts
  const { pathname: base, origin, protocol } = new URL(inboxUrl)
  const frame = createFrame(base)
  const entry = createSignIn({ isAdmin, seal, secure: protocol === 'https:', now })
  const app = new Hono()

  app.use('/inbox/*', async (c, next) => {
    for (const [name, value] of Object.entries(frame.headers)) c.header(name, value)
    await next()
  })
  app.use('/inbox/*', bodyLimit({ maxSize: MOST_BYTES, onError: (c) => say(c, 413, 'That was too much text.') }))
  app.on('POST', '/inbox/*', async (c, next) => {
    if (sameSite(c, origin)) return next()
    return say(c, 403, 'This form was sent from another site, so nothing was done.', `Open ${inboxUrl} itself.`)
  })

  app.get('/inbox', async (c) => {
    const signed = await entry.signed(c)
    if (signed === undefined) return askToSignIn(c, base)
    const after = c.req.query('after')
    const waiting = await waitingAfter(after)
    if (waiting === undefined) return say(c, 400, 'This address is not one that the inbox gave out.')
    const justNow = await cards.get(c.req.query('decided') ?? '')
    const decided = after ? [] : await lastDecided()
    return show(c, 200, listPage({ ...shows(signed), waiting, decided, ...(justNow && { justNow }) }))
  })

  app.get('/inbox/', (c) => c.redirect(base, 308))

  app.get('/inbox/cards/:id', async (c) => {
    const id = c.req.param('id')
    const signed = await entry.signed(c)
    if (signed === undefined) return askToSignIn(c, `${base}/cards/${encodeURIComponent(id)}`)
    const card = await cards.get(id)
    return card === undefined ? noCard(c) : show(c, 200, cardPage(card, shows(signed)))
  })

  app.post('/inbox/cards/:id/:move{approve|deny}', async (c) => {
    const signed = await entry.signed(c)
    if (signed === undefined) {
      const back = `${base}/cards/${encodeURIComponent(c.req.param('id'))}`
      return askToSignIn(c, back, 401, 'Your sign-in has ended, so nothing was decided.')
    }
    const fields = await fieldsOf(c)
    if (!entry.isOwnForm(signed, fields.get('csrf'))) {
      return say(c, 403, 'This form is not from your sign-in, so nothing was decided.', 'Open the inbox again.')
    }
    const note = (fields.get('note') ?? '').replaceAll('\r\n', '\n').trim()
    const decider = { by: signed.by, ...(note === '' ? {} : { note }) }
    const decide = c.req.param('move') === 'approve' ? cards.approve : cards.deny
    return decided(c, signed, await decide(c.req.param('id'), decider))
  })

  app.post('/inbox/sign-in', async (c) => {
    const fields = await fieldsOf(c)
    const back = ownAddress(fields.get('next'), base)
    const key = (fields.get('key') ?? '').trim()
    const entered = await entry.signIn(c, key)
    if (entered === 'ok') return c.redirect(back, 303)
    if (entered === 'wrong') return askToSignIn(c, back, 401, wrongKey(key))
    c.header('retry-after', '60')
    return askToSignIn(c, back, 429, 'Too many wrong keys. Wait a minute, then try again.')
  })

  app.post('/inbox/sign-out', async (c) => {
    const signed = await entry.signed(c)
    if (signed !== undefined && !entry.isOwnForm(signed, (await fieldsOf(c)).get('csrf'))) {
      return say(c, 403, 'This form is not from your sign-in, so you are still signed in.', 'Open the inbox again.')
    }
    entry.signOut(c)
    return c.redirect(base, 303)
  })

  app.all('/inbox/*', (c) => {
    const isKnown = /^\/inbox(\/cards\/[^/]+(\/(approve|deny))?|\/sign-(in|out))?$/.test(c.req.path)
    if (!isKnown) return say(c, 404, 'There is no such page.')
    c.header('allow', /\/(approve|deny|sign-in|sign-out)$/.test(c.req.path) ? 'POST' : 'GET, HEAD')
    return say(c, 405, 'Opening this address does nothing.', 'Cards are decided by the buttons on their page.')
  })

  app.onError((error, c) => {
    if (error instanceof DatabaseUnavailable || error instanceof AuditUnavailable) {
      c.header('retry-after', '2')
      const next = 'Look in a few seconds whether a decision was kept, and decide again if not.'
      return say(c, 503, 'The gateway cannot reach its database.', next)
    }
    log.error({ err: error }, 'an inbox page failed')
    return say(c, 500, 'The gateway failed inside.', 'Its log says why.')
  })

  const shows = (signed: Signed): Show => ({ signed, base, now: now() })
  const show = (c: Context, status: Status, page: Frame) => c.html(frame.page(page), status)
  const say = (c: Context, status: Status, title: string, more = '') =>
    show(c, status, messagePage({ title, more, base }))
  const noCard = (c: Context) => say(c, 404, 'There is no such card.', 'It may belong to another gateway.')

  function askToSignIn(c: Context, next: string, status: Status = 200, problem?: string) {
    // A link from elsewhere brings no SameSite=Strict cookie, a click on this page does.
    const maySigned = status === 200 && ['cross-site', 'same-site'].includes(c.req.header('sec-fetch-site') ?? '')
    return show(c, status, signInPage({ base, next, maySigned, ...(problem === undefined ? {} : { problem }) }))
  }

  function decided(c: Context, signed: Signed, result: Decided) {
    if (result.ok) return c.redirect(`${base}?decided=${result.card.id}`, 303)
    if (result.problem === 'not_found') return noCard(c)
    const first = `${decisionOf(result.card)} Your decision came later and changed nothing.`
    return show(c, 409, cardPage(result.card, shows(signed), first))
  }

  /** A page of what waits; undefined for a cursor that no list gave out. */
  async function waitingAfter(cursor: string | undefined): Promise<CardPage | undefined> {
    try {
      return await cards.list({ status: 'pending', limit: WAITING, ...(cursor ? { cursor } : {}) })
    } catch (error) {
      if (error instanceof RangeError) return undefined
      throw error
    }
  }

  /** The newest of each status, then the newest of all; one query after the other, so that calls find a connection. */
  async function lastDecided(): Promise<Card[]> {
    const found: Card[] = []
    for (const status of DECIDED_STATUSES) found.push(...(await cards.list({ status, limit: DECIDED })).items)
    const at = (card: Card) => Date.parse(card.decidedAt ?? card.endedAt ?? card.createdAt)
    return found.sort((a, b) => at(b) - at(a)).slice(0, DECIDED)
  }

  return app
}

type Status = 200 | 400 | 401 | 403 | 404 | 405 | 409 | 413 | 429 | 500 | 503

function wrongKey(key: string): string {
  if (key === '') return 'Paste the admin key.'
  if (key.startsWith('eyJ')) return 'This is a session token. It lets an agent call tools; it cannot decide anything.'
  return 'This key is wrong.'
}

/** Where to go after signing in: the inbox or one of its cards, and nowhere else. */
function ownAddress(next: string | null, base: string): string {
  const id = next?.startsWith(`${base}/cards/`) ? next.slice(base.length + 7) : ''
  return /^[0-9a-f-]{36}$/i.test(id) ? `${base}/cards/${id}` : base
}
