/** The inbox: who gets in, what a person sees, and that only a person's own form decides. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSeal } from '../../src/db/seal.ts'
import { call, tool } from '../approvals/calls.ts'
import { createInboxWorld, type InboxWorld, KEY, ORIGIN } from './inbox-world.ts'

let world: InboxWorld
let build: InboxWorld['build']
let get: InboxWorld['get']
let post: InboxWorld['post']
let parked: InboxWorld['parked']
let signIn: InboxWorld['signIn']
let statusOf: InboxWorld['statusOf']
beforeAll(async () => {
  world = await createInboxWorld()
  ;({ build, get, post, parked, signIn, statusOf } = world)
})
afterAll(() => world.close())

describe('the door', () => {
  it('shows a sign-in form, and no card, to who is not signed in', async () => {
    const card = await parked()
    for (const path of ['/inbox', `/inbox/cards/${card.id}`, `/inbox/cards/${randomUUID()}`]) {
      const answer = await get(path)
      const text = await answer.text()
      expect(answer.status).toBe(200)
      expect(text).toContain('<label for="key">Approver token or admin key</label>')
      expect(text).not.toContain('Write file')
      expect(text).not.toMatch(/Approve\b/)
    }
  })

  it('refuses a wrong key, and says what a session token is', async () => {
    for (const [key, said] of [
      ['not-the-key', 'This key is wrong.'],
      ['', 'Paste an approver token or the admin key.'],
      ['eyJhbGciOiJFZERTQSJ9.e30.c2ln', 'This is a session token.'],
      [`${Buffer.from('{"typ":"tollgate-approver+jwt"}').toString('base64url')}.e30.c2ln`, 'expired, revoked, or of'],
    ] as const) {
      const answer = await post('/inbox/sign-in', { key })
      expect([answer.status, answer.headers.get('set-cookie')]).toEqual([401, null])
      const text = await answer.text()
      expect(text).toContain(said)
      if (key !== '') expect(text).not.toContain(key)
    }
  })

  it('after ten wrong keys in a minute refuses the right one too, until the minute is over', async () => {
    let now = 1_000_000
    const app = build({ now: () => now })
    for (let i = 0; i < 10; i++) expect((await post('/inbox/sign-in', { key: 'no' }, {}, app)).status).toBe(401)
    const closed = await post('/inbox/sign-in', { key: KEY }, {}, app)
    expect([closed.status, closed.headers.get('retry-after'), closed.headers.get('set-cookie')]).toEqual([
      429,
      '60',
      null,
    ])
    now += 60_000
    expect((await post('/inbox/sign-in', { key: KEY }, {}, app)).status).toBe(303)
  })

  it('gives a sealed cookie that scripts, other sites and plain http never see', async () => {
    const answer = await post('/inbox/sign-in', { key: KEY })
    const cookie = answer.headers.get('set-cookie') ?? ''
    expect(cookie.replace(/=[\w.-]+;/, '=…;')).toBe(
      '__Host-tollgate-inbox=…; Max-Age=28800; Path=/; HttpOnly; Secure; SameSite=Strict',
    )
    expect(cookie).not.toContain(KEY)
    const plain = await post('/inbox/sign-in', { key: KEY }, {}, build({ inboxUrl: 'http://127.0.0.1:8787/inbox' }))
    expect(plain.headers.get('set-cookie')?.replace(/=[\w.-]+;/, '=…;')).toBe(
      'tollgate-inbox=…; Max-Age=28800; Path=/; HttpOnly; SameSite=Strict',
    )
  })

  it('knows nobody by a cookie that is old, changed, or sealed elsewhere', async () => {
    const { cookie } = await signIn()
    const old = build({ now: () => Date.now() + 8 * 3_600_000 + 1_000 })
    expect(await (await old.request('/inbox', { headers: { cookie } })).text()).toContain('Sign in')
    const other = createSeal('another secret that is long enough')
    const forged = await other.seal(JSON.stringify({ by: 'eve', exp: Number.MAX_SAFE_INTEGER, csrf: 'x'.repeat(24) }))
    for (const value of [`__Host-tollgate-inbox=${forged}`, `${cookie.slice(0, -4)}AAAA`, cookie.slice(7), 'a=b']) {
      expect(await (await get('/inbox', { cookie: value })).text()).toContain('Sign in')
    }
  })

  it('leads on to the card it was opened for, and to no other address', async () => {
    const next = `/inbox/cards/${randomUUID()}`
    expect((await post('/inbox/sign-in', { key: KEY, next })).headers.get('location')).toBe(next)
    for (const foreign of ['https://evil.example/', '//evil.example', `${next}/approve`, '/inbox/cards/../../x']) {
      expect((await post('/inbox/sign-in', { key: KEY, next: foreign })).headers.get('location')).toBe('/inbox')
    }
  })

  it('signs out', async () => {
    const { cookie, csrf } = await signIn()
    expect((await post('/inbox/sign-out', {}, { cookie })).status).toBe(403)
    const answer = await post('/inbox/sign-out', { csrf }, { cookie })
    expect(answer.status).toBe(303)
    expect(answer.headers.get('set-cookie')).toBe(
      '__Host-tollgate-inbox=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Strict',
    )
  })
})

describe('every page', () => {
  it('loads nothing, frames nowhere, is kept nowhere', async () => {
    const { cookie, csrf } = await signIn()
    const answers = [
      await get('/inbox'),
      await get('/inbox', { cookie }),
      await get('/inbox/cards/x', { cookie }),
      await get('/inbox/nowhere'),
      await post('/inbox/sign-in', { key: 'no' }),
      await post('/inbox/sign-out', { csrf }, { cookie }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 404, 401, 303])
    for (const { headers } of answers) {
      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
      )
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('referrer-policy')).toBe('same-origin')
    }
  })

  it('holds no script, no style and no handler of its own', async () => {
    const { cookie } = await signIn()
    const card = await parked()
    for (const path of ['/inbox', `/inbox/cards/${card.id}`, '/inbox/history', '/inbox/standing']) {
      const text = await (await get(path, { cookie })).text()
      expect(text).not.toMatch(/<script(?! src="\/inbox\/inbox\.js\?[0-9a-f]{12}" defer>)|<style|style=| on[a-z]+=/)
    }
  })

  it('names its style and script by what is in them, so that a browser may keep them', async () => {
    const text = await (await get('/inbox')).text()
    for (const name of ['inbox.css', 'inbox.js', 'icon.svg']) {
      const version = new RegExp(`/inbox/${name.replace('.', '\\.')}(\\?[0-9a-f]{12})?`).exec(text)?.[1] ?? ''
      const kept = await get(`/inbox/${name}${version}`)
      expect([kept.status, (await kept.text()).length > 100]).toEqual([200, true])
      if (version !== '') expect(kept.headers.get('cache-control')).toContain('immutable')
      expect((await get(`/inbox/${name}?old`)).headers.get('cache-control')).toBe('no-store')
    }
  })

  it('says without JavaScript where to look again', async () => {
    const { cookie } = await signIn()
    expect(await (await get('/inbox', { cookie })).text()).toContain('<a href="/inbox">Refresh</a>')
  })
})

describe('a card', () => {
  it('says who asks for what, with which arguments, and why', async () => {
    const card = await parked({
      argumentsText: '{"path":"a.txt","apiKey":"hunter2-hunter2","big":12345678901234567890}',
    })
    const { cookie } = await signIn()
    for (const path of ['/inbox', `/inbox/cards/${card.id}`]) {
      const text = await (await get(path, { cookie })).text()
      for (const said of [
        'Write file',
        'mcp__files__write_file',
        'May change something',
        'person-chat of acme',
        card.sessionId,
        'This tool may change something, so a person decides.',
        '&quot;path&quot;: &quot;a.txt&quot;',
        '&quot;apiKey&quot;: &quot;[redacted]&quot;',
        '&quot;big&quot;: 12345678901234567890',
        'just now',
        'seconds left',
      ]) {
        expect(text).toContain(said)
      }
      expect(text).not.toContain('hunter2')
    }
  })

  it('shows hostile text as text', async () => {
    const hostile = '</pre><script>alert("1")</script>\'\u202E\u001b[31m'
    const card = await parked({
      argumentsText: JSON.stringify({ [hostile]: hostile }),
      tool: { ...tool, title: '"><script>alert(1)</script>' },
      reasons: [{ rule: 'x', because: '<b onclick=alert(1)>' }],
    })
    const { cookie, csrf } = await signIn()
    const list = await (await get('/inbox', { cookie })).text()
    const page = await (await get(`/inbox/cards/${card.id}`, { cookie })).text()
    await post(`/inbox/cards/${card.id}/deny`, { csrf, note: '<img src=x onerror=alert(1)>' }, { cookie })
    const after = await (await get(`/inbox?decided=${card.id}`, { cookie })).text()
    for (const text of [list, page, after]) {
      expect(text).not.toMatch(/<script>alert|<\/pre><s|<b |<img/)
      expect(text).not.toMatch(/[\u202e\u001b]/)
      expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    }
    expect(after).toContain('&lt;img src=x onerror=alert(1)&gt;')
  })

  it('that does not exist is not found', async () => {
    const { cookie, csrf } = await signIn()
    for (const id of [randomUUID(), 'nonsense', '%00', '%ff']) {
      expect((await get(`/inbox/cards/${id}`, { cookie })).status).toBe(404)
      expect((await post(`/inbox/cards/${id}/approve`, { csrf }, { cookie })).status).toBe(404)
    }
  })
})

describe('a decision', () => {
  it('is made once; the second hears who was first', async () => {
    const { cookie, csrf } = await signIn()
    const card = await parked()
    const first = await post(`/inbox/cards/${card.id}/approve`, { csrf, note: ' fine\r\nonce ' }, { cookie })
    expect([first.status, first.headers.get('location')]).toEqual([303, `/inbox?decided=${card.id}`])
    expect(await world.room.cards.get(card.id)).toMatchObject({
      status: 'approved',
      decidedBy: 'operator',
      note: 'fine\nonce',
    })
    expect(await (await get(`/inbox?decided=${card.id}`, { cookie })).text()).toContain(
      'This call was approved by operator at ',
    )
    for (const move of ['approve', 'deny']) {
      const again = await post(`/inbox/cards/${card.id}/${move}`, { csrf }, { cookie })
      expect(again.status).toBe(409)
      const text = await again.text()
      expect(text).toContain('This call was approved by operator at ')
      expect(text).toContain('changed nothing')
      expect(text).toContain(`<a href="/inbox/cards/${card.id}">Refresh</a>`)
    }
    expect(await statusOf(card.id)).toBe('approved')
  })

  it('can be a no, and is listed with its note', async () => {
    const { cookie, csrf } = await signIn()
    const card = await parked()
    expect((await post(`/inbox/cards/${card.id}/deny`, { csrf, note: 'wrong folder' }, { cookie })).status).toBe(303)
    expect(await statusOf(card.id)).toBe('denied')
    const text = await (await get('/inbox', { cookie })).text()
    expect(text.slice(text.indexOf('Decided last'))).toContain('wrong folder')
  })

  it('comes too late for an expired card', async () => {
    const { cookie, csrf } = await signIn()
    const late = world.room.also({ timeoutMs: 1 })
    const parked = await late.park(call())
    if (!parked.ok) throw new Error(parked.problem)
    await new Promise((resolve) => setTimeout(resolve, 20))
    const answer = await post(`/inbox/cards/${parked.card.id}/approve`, { csrf }, { cookie })
    expect(answer.status).toBe(409)
    expect(await answer.text()).toContain('Nobody decided in time')
  })

  it('needs a sign-in, its token, and this very site', async () => {
    const { cookie, csrf } = await signIn()
    const other = await signIn()
    const card = await parked()
    const path = `/inbox/cards/${card.id}/approve`
    const refused = async (status: number, fields: Record<string, string>, headers: Record<string, string>) => {
      const answer = await post(path, fields, headers)
      expect([answer.status, await statusOf(card.id)]).toEqual([status, 'pending'])
    }
    await refused(401, { csrf }, {})
    await refused(401, { csrf }, { authorization: `Bearer ${KEY}` })
    await refused(403, {}, { cookie })
    await refused(403, { csrf: '' }, { cookie })
    await refused(403, { csrf: other.csrf }, { cookie })
    await refused(403, { csrf: `${csrf}A` }, { cookie })
    await refused(403, { csrf }, { cookie, 'content-type': 'text/plain' })
    await refused(403, { csrf }, { cookie, origin: 'https://evil.example' })
    await refused(403, { csrf }, { cookie, origin: 'null' })
    await refused(403, { csrf }, { cookie, origin: ORIGIN, 'sec-fetch-site': 'cross-site' })
    await refused(403, { csrf }, { cookie, origin: ORIGIN, 'sec-fetch-site': 'same-site' })
    await refused(413, { csrf, note: 'x'.repeat(70_000) }, { cookie })
    const own = { cookie, origin: ORIGIN, 'sec-fetch-site': 'same-origin' }
    expect((await post(path, { csrf }, own)).status).toBe(303)
    expect(await statusOf(card.id)).toBe('approved')
  })

  it('may come by another name of the gateway, where Origin and Host agree', async () => {
    const { cookie, csrf } = await signIn()
    const card = await parked()
    const headers = { cookie, origin: 'http://localhost:8787', host: 'localhost:8787' }
    expect((await post(`/inbox/cards/${card.id}/deny`, { csrf }, headers)).status).toBe(303)
  })

  it('is never made by opening an address', async () => {
    const { cookie, csrf } = await signIn()
    const card = await parked()
    for (const move of ['approve', 'deny']) {
      for (const method of ['GET', 'HEAD', 'PUT', 'OPTIONS']) {
        const path = `/inbox/cards/${card.id}/${move}?csrf=${csrf}`
        const answer = await build().request(path, { method, headers: { cookie } })
        expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
      }
    }
    expect((await get(`/inbox?decided=${card.id}`, { cookie })).status).toBe(200)
    expect(await statusOf(card.id)).toBe('pending')
  })
})

describe('the list', () => {
  it('has the one that waits longest first, twenty at a time', async () => {
    const { cookie } = await signIn()
    const { items } = await world.room.cards.list({ status: 'pending', limit: 200 })
    for (const { id } of items) await world.room.cards.withdraw(id, { by: 'ann' })
    for (let i = 0; i < 21; i++) await parked({ argumentsText: `{"path":"file-${i}."}` })
    const text = await (await get('/inbox', { cookie })).text()
    expect(text).toContain('<title>(20+) Inbox · Tollgate</title>')
    expect(text.indexOf('file-1.')).toBeLessThan(text.indexOf('file-19.'))
    expect(text).not.toContain('file-20.')
    const more = /href="(\/inbox\?after=[^"]+)"/.exec(text)?.[1] ?? ''
    expect(await (await get(more, { cookie })).text()).toContain('file-20.')
    expect((await get('/inbox?after=nonsense', { cookie })).status).toBe(400)
  })

  it('below another path of the public address links there', async () => {
    const app = build({ inboxUrl: `${ORIGIN}/gate/inbox` })
    const answer = await post('/inbox/sign-in', { key: KEY }, {}, app)
    expect(answer.headers.get('location')).toBe('/gate/inbox')
    expect(await (await app.request('/inbox')).text()).toContain('action="/gate/inbox/sign-in"')
  })
})
