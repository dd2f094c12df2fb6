/** The inbox for people with a token of their own: each sees and decides the cards of one brand, as long as it is good. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Card } from '../../src/approvals/cards.ts'
import { sessionOf } from '../approvals/calls.ts'
import { createInboxWorld, type InboxWorld, type Signed } from './inbox-world.ts'

let world: InboxWorld
beforeAll(async () => {
  world = await createInboxWorld()
})
afterAll(() => world.close())

let count = 0
const approver = (brand = 'acme') => world.approvers.issue({ brand, name: `Ann ${++count}` })

/** A card of this brand, of a role and a tool where told. */
function parkedBy(brand: string, path: string): Promise<Card> {
  const session = { ...sessionOf(`s_${++count}`), brand }
  return world.parked({ session, argumentsText: JSON.stringify({ path }) })
}

/** The events that come within a moment, as name and data. */
async function eventsOf(path: string, { cookie }: Signed, enough: (text: string) => boolean): Promise<string> {
  const answer = await world.get(path, { cookie })
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const stop = AbortSignal.timeout(5_000)
  while (!enough(text) && !stop.aborted) {
    const { value, done } = await reader.read()
    if (done) break
    text += value
  }
  await reader.cancel()
  return text
}

describe('an approver', () => {
  it('signs in with the token, is named, and leaves no token in the cookie', async () => {
    const { token, approver: ann } = await approver()
    const signed = await world.signIn(token)
    expect(signed.cookie).not.toContain(token.slice(-40))
    expect(await world.page('/inbox', signed)).toContain(`${ann.name}, acme`)
  })

  it('decides in his own name', async () => {
    const { token, approver: ann } = await approver()
    const { cookie, csrf } = await world.signIn(token)
    const card = await parkedBy('acme', 'mine')
    expect((await world.post(`/inbox/cards/${card.id}/approve`, { csrf, shown: card.shown }, { cookie })).status).toBe(
      303,
    )
    expect(await world.room.cards.get(card.id)).toMatchObject({
      status: 'approved',
      decidedBy: `approver ${ann.name}`,
      decidedVia: 'inbox',
    })
  })

  it('finds no card of another brand, wherever it looks, and no trace that there is one', async () => {
    const card = await parkedBy('other', 'secret-of-other')
    const ended = await parkedBy('other', 'secret-of-other-too')
    await world.room.cards.deny(ended.id, { by: 'operator' })
    const signed = await world.signIn((await approver()).token)
    for (const path of [
      '/inbox',
      '/inbox?brand=other',
      '/inbox/history',
      '/inbox/history?brand=other',
      '/inbox/standing',
    ])
      expect(await world.page(path, signed)).not.toContain('secret-of-other')
    expect(await world.page(`/inbox?decided=${ended.id}`, signed)).not.toContain('secret-of-other')
    const nowhere = '/inbox/cards/00000000-0000-4000-8000-000000000000'
    const { cookie, csrf } = signed
    for (const id of [card.id, ended.id]) {
      const there = await world.get(`/inbox/cards/${id}`, { cookie })
      const not = await world.get(nowhere, { cookie })
      expect([there.status, await there.text()]).toEqual([404, await not.text()])
      expect((await world.get(`/inbox/cards/${id}?as=item`, { cookie })).status).toBe(404)
      for (const move of ['approve', 'deny', 'settle']) {
        const fields = { csrf, shown: card.shown, outcome: 'happened' }
        const answers = await Promise.all([
          world.post(`/inbox/cards/${id}/${move}`, fields, { cookie }),
          world.post(`${nowhere}/${move}`, fields, { cookie }),
        ])
        const [mine, none] = await Promise.all(answers.map(async (each) => [each.status, await each.text()]))
        expect(mine).toEqual(none)
      }
    }
    expect(await world.statusOf(card.id)).toBe('pending')
  })

  it('is out at the next request once the token is revoked, and decides nothing with an open page', async () => {
    const { token, approver: ann } = await approver()
    const { cookie, csrf } = await world.signIn(token)
    const card = await parkedBy('acme', 'open page')
    expect(await world.page(`/inbox/cards/${card.id}`, { cookie, csrf })).toContain('open page')
    await world.approvers.revoke(ann.id)
    const answer = await world.post(`/inbox/cards/${card.id}/approve`, { csrf, shown: card.shown }, { cookie })
    expect([answer.status, await world.statusOf(card.id)]).toEqual([401, 'pending'])
    expect(await world.page('/inbox', { cookie, csrf })).toContain('<h1>Sign in</h1>')
    expect((await world.get('/inbox/events', { cookie })).status).toBe(401)
    expect((await world.post('/inbox/sign-in', { key: token })).status).toBe(401)
  })

  it('cannot sign in with the token of a session', async () => {
    const answer = await world.post('/inbox/sign-in', { key: 'eyJhbGciOiJFZERTQSJ9.e30.c2ln' })
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([401, null])
  })
})

describe('the stream of a page', () => {
  it('says what waits, then what moves, and nothing of another brand', async () => {
    const signed = await world.signIn((await approver('streams')).token)
    const there = await parkedBy('streams', 'there')
    const reading = eventsOf('/inbox/events', signed, (text) => text.includes('"status":"denied"'))
    await new Promise((resolve) => setTimeout(resolve, 100))
    const foreign = await parkedBy('other', 'foreign')
    const fresh = await parkedBy('streams', 'fresh')
    await world.room.cards.deny(fresh.id, { by: 'operator' })
    const text = await reading
    expect(text).toContain(`event: waiting\ndata: ["${there.id}"]`)
    expect(text).toContain(
      `event: card\ndata: ${JSON.stringify({ id: fresh.id, status: 'pending', title: fresh.title, brand: 'streams' })}`,
    )
    expect(text).not.toContain(foreign.id)
    expect(text).not.toContain('arguments')
  })

  it('of another brand’s card never says a thing', async () => {
    const signed = await world.signIn((await approver('curious')).token)
    const foreign = await parkedBy('other', 'watched from afar')
    const [theirs, own] = [
      eventsOf(`/inbox/events?card=${foreign.id}`, signed, (text) => text.includes('event: card')),
      eventsOf('/inbox/events', signed, (text) => text.includes('event: card')),
    ]
    await new Promise((resolve) => setTimeout(resolve, 100))
    await world.room.cards.deny(foreign.id, { by: 'operator' })
    await parkedBy('curious', 'own')
    expect(await own).toContain('event: card')
    expect(await Promise.race([theirs, new Promise((resolve) => setTimeout(resolve, 300, 'nothing'))])).toBe('nothing')
  })

  it('ends with the sign-in', async () => {
    const { token, approver: ann } = await approver('ending')
    const signed = await world.signIn(token)
    const reading = eventsOf('/inbox/events', signed, (text) => text.includes('event: out'))
    await new Promise((resolve) => setTimeout(resolve, 100))
    await world.approvers.revoke(ann.id)
    const unseen = await parkedBy('ending', 'unseen')
    const text = await reading
    expect(text).toContain('event: out')
    expect(text).not.toContain(unseen.id)
  })

  it('is for nobody who is not signed in', async () => {
    expect((await world.get('/inbox/events')).status).toBe(401)
  })
})

describe('filters', () => {
  it('show only cards of that brand, role and tool, and keep to the address', async () => {
    const signed = await world.signIn()
    await parkedBy('filter-a', 'in-a')
    await parkedBy('filter-b', 'in-b')
    const text = await world.page('/inbox?brand=filter-a&tool=files/write_file', signed)
    expect(text).toContain('in-a')
    expect(text).not.toContain('in-b')
    expect(text).toContain('data-events="/inbox/events?brand=filter-a&amp;tool=mcp__files__write_file"')
    expect(text).toContain('<details class="filter" open>')
    for (const none of ['role=goal-agent', 'tool=mcp__files__read_file', 'brand=nobody']) {
      expect(await world.page(`/inbox?${none}`, signed)).not.toMatch(/in-a|in-b/)
    }
  })

  it('stay after a decision', async () => {
    const { cookie, csrf } = await world.signIn()
    const card = await parkedBy('filter-c', 'c')
    const answer = await world.post(
      `/inbox/cards/${card.id}/deny`,
      { csrf, back: '?brand=filter-c&x=//evil' },
      { cookie },
    )
    expect(answer.headers.get('location')).toBe(`/inbox?brand=filter-c&decided=${card.id}`)
  })

  it('find what is over in the history too', async () => {
    const signed = await world.signIn()
    const card = await parkedBy('filter-d', 'over-in-d')
    await world.room.cards.deny(card.id, { by: 'operator', note: 'because' })
    const text = await world.page('/inbox/history?brand=filter-d', signed)
    expect(text).toContain('over-in-d')
    expect(text).toContain('because')
    expect(await world.page('/inbox/history?brand=filter-e', signed)).toContain('Nothing was decided yet.')
    expect((await world.get('/inbox/history?after=nonsense', { cookie: signed.cookie })).status).toBe(400)
  })
})
