/** How far a yes goes, what it is bound to, and what people do about outcomes that nobody knows. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Card } from '../../src/approvals/cards.ts'
import { sessionOf, tool } from '../approvals/calls.ts'
import { createInboxWorld, type InboxWorld, type Signed } from './inbox-world.ts'

let world: InboxWorld
let signed: Signed
beforeAll(async () => {
  world = await createInboxWorld()
  signed = await world.signIn()
})
afterAll(() => world.close())

const decide = (card: Card, move: string, fields: Record<string, string> = {}) =>
  world.post(
    `/inbox/cards/${card.id}/${move}`,
    { csrf: signed.csrf, shown: card.shown, ...fields },
    { cookie: signed.cookie },
  )

const offered = { ...tool, standing: true } as const

describe('a yes', () => {
  it('is for one call unless somebody chose more', async () => {
    const card = await world.parked()
    await decide(card, 'approve')
    expect(await world.room.cards.get(card.id)).toMatchObject({ status: 'approved', scope: 'once' })
    expect((await world.room.cards.standing.list({ limit: 10 })).items).toEqual([])
  })

  it('for the session stands until it is revoked', async () => {
    const card = await world.parked({ sessionId: randomUUID() })
    expect((await decide(card, 'approve', { scope: 'session', note: 'every morning' })).status).toBe(303)
    const text = await world.page('/inbox/standing', signed)
    expect(text).toContain('Exactly this: Write file on files with path &quot;a.txt&quot;.')
    expect(text).toContain('every morning')
    const at = /action="(\/inbox\/standing\/[0-9a-f-]{36}\/revoke)"/.exec(text)?.[1] ?? ''
    expect((await world.post(at, {}, { cookie: signed.cookie })).status).toBe(403)
    const revoked = await world.post(at, { csrf: signed.csrf }, { cookie: signed.cookie })
    expect([revoked.status, revoked.headers.get('location')]).toEqual([303, '/inbox/standing?revoked'])
    const after = await world.page('/inbox/standing?revoked', signed)
    expect(after).toContain('Revoked')
    expect(after).not.toContain('/revoke"')
    const gone = await world.post(
      `/inbox/standing/${randomUUID()}/revoke`,
      { csrf: signed.csrf },
      { cookie: signed.cookie },
    )
    expect(gone.status).toBe(404)
  })

  it('for the brand is offered only where the tool declares it, and refused where it was not offered', async () => {
    const plain = await world.parked()
    expect(await world.page(`/inbox/cards/${plain.id}`, signed)).not.toContain('in every session of acme')
    const refused = await decide(plain, 'approve', { scope: 'always' })
    expect([refused.status, await world.statusOf(plain.id)]).toEqual([422, 'pending'])
    const card = await world.parked({ tool: offered })
    expect(await world.page(`/inbox/cards/${card.id}`, signed)).toContain('in every session of acme')
    expect((await decide(card, 'approve', { scope: 'always' })).status).toBe(303)
    expect(await world.room.cards.get(card.id)).toMatchObject({ scope: 'always' })
  })

  it('for calls like this one has a pattern, a count and an end', async () => {
    const card = await world.parked({ argumentsText: '{"path":"notes/a.md","content":"x"}' })
    const fields = { scope: 'similar', vary: 'path', within: 'notes/', count: '3', hours: '2' }
    expect((await decide(card, 'approve', fields)).status).toBe(303)
    const [standing] = (await world.room.cards.standing.list({ limit: 1 })).items
    expect(standing).toMatchObject({ card: card.id, scope: 'session', similar: { path: 'notes/*' }, left: 3 })
    expect(Date.parse(standing?.expiresAt ?? '') - Date.now()).toBeGreaterThan(7_100_000)
    expect(await world.page('/inbox/standing', signed)).toContain('begins with <code>notes/</code>')
  })

  it('for a number has a most', async () => {
    const card = await world.parked({ argumentsText: '{"limit":5,"query":"x"}' })
    const fields = { scope: 'similar', vary: 'limit', within: '10', count: '3', hours: '2' }
    expect((await decide(card, 'approve', fields)).status).toBe(303)
    expect((await world.room.cards.standing.list({ limit: 1 })).items[0]).toMatchObject({
      similar: { limit: { max: 10 } },
    })
  })

  it.each([
    [{ within: '' }, 'Say what the argument must begin with'],
    [{ within: '*' }, 'something must stand before'],
    [{ within: 'elsewhere/' }, 'must cover the value of this very call'],
    [{ vary: 'nothing' }, 'must cover the value of this very call'],
    [{ count: '0' }, 'for how many calls'],
    [{ count: '1000' }, 'from 1 to 100'],
    [{ hours: 'soon' }, 'for how many hours'],
    [{ hours: '1000' }, 'from 1 to 86400'],
  ])('with %o approves nothing and says why', async (wrong, said) => {
    const card = await world.parked({ argumentsText: '{"path":"notes/a.md"}' })
    const fields = { scope: 'similar', vary: 'path', within: 'notes/', count: '3', hours: '2', ...wrong }
    const answer = await decide(card, 'approve', fields)
    expect([answer.status, await world.statusOf(card.id)]).toEqual([422, 'pending'])
    expect((await answer.text()).replaceAll('&quot;', '"')).toContain(said)
  })

  it('to a scope that no form offers is refused', async () => {
    const card = await world.parked()
    expect((await decide(card, 'approve', { scope: 'everything' })).status).toBe(422)
    expect(await world.statusOf(card.id)).toBe('pending')
  })
})

describe('what was shown', () => {
  it('is what is decided: another page decides nothing and shows the card as it is', async () => {
    const card = await world.parked({ argumentsText: '{"path":"as-it-is.txt"}' })
    for (const move of ['approve', 'deny']) {
      const answer = await decide(card, move, { shown: 'f'.repeat(64) })
      expect([answer.status, await world.statusOf(card.id)]).toEqual([409, 'pending'])
      const text = await answer.text()
      expect(text).toContain('not what your page showed')
      expect(text).toContain('as-it-is.txt')
      expect(text).toContain(`name="shown" value="${card.shown}"`)
    }
  })

  it('stands in every form that decides', async () => {
    const card = await world.parked()
    for (const path of ['/inbox', `/inbox/cards/${card.id}`])
      expect(await world.page(path, signed)).toContain(`<input type="hidden" name="shown" value="${card.shown}">`)
  })

  it('is the difference too, where the tool is described otherwise than at the last yes', async () => {
    const session = { ...sessionOf(randomUUID()), brand: 'diffs' }
    const told = (description: string) => ({
      ...tool,
      definition: { legacy: '', modern: `,"description":${JSON.stringify(description)}` },
      digest: description.padEnd(64, '.'),
    })
    const parked = (description: string) =>
      world.parked({ session, tool: told(description), fingerprint: randomUUID() })
    const first = await parked('Writes a file. Keeps a copy.')
    expect(await world.page(`/inbox/cards/${first.id}`, signed)).not.toContain('definition changed')
    await decide(first, 'approve')
    const same = await parked('Writes a file. Keeps a copy.')
    expect(await world.page(`/inbox/cards/${same.id}`, signed)).not.toContain('definition changed')
    const changed = await parked('Writes a file. Sends\u202e it away.')
    const text = await world.page(`/inbox/cards/${changed.id}`, signed)
    expect(text).toContain('The tool’s definition changed')
    expect(text).toMatch(/removed: <\/span> *Keeps a copy\./)
    expect(text).toMatch(/added: <\/span> *Sends<mark class="hidden">U\+202E right-to-left override<\/mark> it away\./)
  })

  it('says so where the tool changed since the call was asked', async () => {
    const card = await world.parked()
    const stale = world.build({ isStale: () => true })
    const answer = await world.get(`/inbox/cards/${card.id}`, { cookie: signed.cookie }, stale)
    expect(await answer.text()).toContain('it will not run even if you approve')
  })

  it('has who asks and what is left of what it would be paid from', async () => {
    const card = await world.parked({
      tool: { ...tool, access: 'spend' },
      cost: { unit: 'credits', amount: '2.5' },
    })
    const told = world.build({
      asker: async () => ({ subject: 'ann@acme.example', coworker: 'Scout' }),
      allowances: async () => [{ per: 'day', unit: 'credits', left: '7.5', most: '100' }],
    })
    const text = await (await world.get(`/inbox/cards/${card.id}`, { cookie: signed.cookie }, told)).text()
    for (const said of ['ann@acme.example', 'Scout', '2.5 credits', '7.5 of 100 credits left today', 'Costs money'])
      expect(text).toContain(said)
  })
})

describe('an outcome that nobody knows', () => {
  async function unknown(): Promise<Card> {
    const card = await world.parked()
    await world.room.cards.approve(card.id, { by: 'operator' })
    await world.room.cards.claim(card.id, randomUUID())
    const ended = await world.room.cards.finish(card.id, { status: 'unknown', code: 'outcome_unknown' })
    if (ended === undefined) throw new Error('it did not end')
    return ended
  }

  it.each([
    ['happened', 'done', 'It happened'],
    ['did_not', 'failed', 'It did not happen'],
  ])('is settled by a person who looked: %s', async (outcome, status, said) => {
    const card = await unknown()
    expect(await world.page('/inbox', signed)).toContain('id="unsettled"')
    expect(await world.page(`/inbox/cards/${card.id}`, signed)).toContain('Did it happen?')
    const answer = await decide(card, 'settle', { outcome })
    expect([answer.status, await world.statusOf(card.id)]).toEqual([303, status])
    const text = await world.page(`/inbox/cards/${card.id}`, signed)
    expect(text).toContain(said)
    expect(text).not.toContain('Did it happen?')
    const again = await decide(card, 'settle', { outcome: 'did_not' })
    expect([again.status, await world.statusOf(card.id)]).toEqual([409, status])
  })

  it('is not settled by an answer that is none', async () => {
    const card = await unknown()
    expect((await decide(card, 'settle', { outcome: 'perhaps' })).status).toBe(422)
    expect((await decide(card, 'settle')).status).toBe(422)
    expect(await world.statusOf(card.id)).toBe('unknown')
  })
})
