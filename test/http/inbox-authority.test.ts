/** Who may not decide in the inbox, by every wrong way at once (reliability C6). */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createSeal } from '../../src/db/seal.ts'
import type { Card } from '../../src/approvals/cards.ts'
import { sessionOf } from '../approvals/calls.ts'
import { createInboxWorld, type InboxWorld, KEY, ORIGIN, seal, type Signed } from './inbox-world.ts'

let world: InboxWorld
let card: Card
beforeAll(async () => {
  world = await createInboxWorld()
  card = await world.parked({ session: { ...sessionOf('s_asks'), brand: 'acme' } })
})
afterAll(() => world.close())

const approver = (brand: string, name: string) => world.approvers.issue({ brand, name })
const named = (sealed: string) => `__Host-tollgate-inbox=${sealed}`

/** Sign-ins that are none, or not of this brand. */
async function cookies(good: Signed): Promise<Record<string, string>> {
  const other = await world.signIn((await approver('other', 'Oda')).token)
  const revoked = await approver('acme', 'Rob')
  const out = await world.signIn(revoked.token)
  await world.approvers.revoke(revoked.approver.id)
  const far = { exp: Number.MAX_SAFE_INTEGER, csrf: good.csrf }
  const foreign = createSeal('a secret of some other gateway, long enough')
  return {
    none: '',
    'of another brand': other.cookie,
    'of a revoked approver': out.cookie,
    'of an approver who never was': named(await seal.seal(JSON.stringify({ ...far, approver: 'a_nobody' }))),
    'of another gateway': named(await foreign.seal(JSON.stringify(far))),
    expired: named(await seal.seal(JSON.stringify({ ...far, exp: Date.now() - 1 }))),
    changed: `${good.cookie.slice(0, -5)}AAAAA`,
    'that is the key itself': named(KEY),
  }
}

/** What a prefetcher, another site, the caller itself, or somebody with a used link would send. */
const HEADERS: Record<string, Record<string, string>> = {
  plain: {},
  'from another site': { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
  'from a sandboxed page': { origin: 'null' },
  'from a prefetcher': { purpose: 'prefetch', 'sec-purpose': 'prefetch', 'user-agent': 'Slackbot-LinkExpanding 1.0' },
  'with a session token': {
    authorization: 'Bearer eyJhbGciOiJFZERTQSIsInR5cCI6InRvbGxnYXRlLXNlc3Npb24rand0In0.e30.c2ln',
  },
  'with the admin key in a header': { authorization: `Bearer ${KEY}` },
  'as JSON': { 'content-type': 'application/json' },
}

it('500 wrong decisions decide nothing', async () => {
  const good = await world.signIn((await approver('acme', 'Ann')).token)
  const accepted: string[] = []
  let sent = 0
  const send = async (what: string, method: string, move: string, csrf: string, headers: Record<string, string>) => {
    sent++
    const at = `/inbox/cards/${card.id}/${move}`
    const form = new URLSearchParams({ csrf, shown: card.shown, outcome: 'happened', note: 'x' }).toString()
    const hasBody = method === 'POST' || method === 'PUT'
    const answer = await world.build().request(hasBody ? at : `${at}?${form}`, {
      method,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      ...(hasBody ? { body: form } : {}),
    })
    if (answer.status < 400 || (await world.statusOf(card.id)) !== 'pending') accepted.push(`${what}: ${answer.status}`)
  }
  const moves = ['approve', 'deny', 'settle']
  for (const [who, cookie] of Object.entries(await cookies(good))) {
    for (const [how, headers] of Object.entries(HEADERS)) {
      for (const move of moves) {
        for (const csrf of [good.csrf, '', 'guess'.repeat(5)]) {
          await send(`POST ${move} by a cookie ${who}, ${how}`, 'POST', move, csrf, { cookie, ...headers })
        }
      }
    }
  }
  // With the good cookie: no way but the form of this very sign-in, sent from this very site.
  for (const move of moves) {
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
      await send(`${method} ${move}`, method, move, good.csrf, { cookie: good.cookie })
    }
    for (const csrf of ['', 'guess'.repeat(5), `${good.csrf}A`, good.csrf.slice(1)]) {
      await send(`${move} with another form’s token`, 'POST', move, csrf, { cookie: good.cookie, origin: ORIGIN })
    }
    for (const how of ['from another site', 'from a sandboxed page', 'as JSON']) {
      await send(`${move} ${how}`, 'POST', move, good.csrf, { cookie: good.cookie, ...HEADERS[how] })
    }
  }
  expect(accepted).toEqual([])
  expect(sent).toBeGreaterThanOrEqual(500)
  const fields = { csrf: good.csrf, shown: card.shown }
  const right = await world.post(`/inbox/cards/${card.id}/deny`, fields, { cookie: good.cookie, origin: ORIGIN })
  expect([right.status, await world.statusOf(card.id)]).toEqual([303, 'denied'])
})

it('a link that was used decides nothing more', async () => {
  const good = await world.signIn()
  const used = await world.parked()
  const at = `/inbox/cards/${used.id}`
  const fields = { csrf: good.csrf, shown: used.shown }
  await world.post(`${at}/deny`, fields, { cookie: good.cookie })
  for (const move of ['approve', 'deny', 'settle']) {
    const again = await world.post(`${at}/${move}`, { ...fields, outcome: 'happened' }, { cookie: good.cookie })
    expect([again.status, await world.statusOf(used.id)]).toEqual([409, 'denied'])
  }
  expect((await world.get(at, { cookie: good.cookie })).status).toBe(200)
})
