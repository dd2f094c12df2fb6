import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { firecrawlContract } from './contracts/firecrawl.ts'
import { type Standin, startStandin } from './standin.ts'

const KEY = 'fc-canary-8a1f02c4e9'
const OTHER = 'fc-canary-77b3aa0d15'
const HOST = 'fc-canary-of-the-host'
const page = { success: true, data: { markdown: '# Hello', metadata: { statusCode: 200, creditsUsed: 1 } } }

let gateway: Gateway
let standin: Standin
const keysSeen = () => standin.seen.map(({ headers }) => String(headers.authorization).slice(7))

beforeAll(async () => {
  standin = await startStandin(firecrawlContract, { base: '/v2', auth: () => undefined })
  gateway = await startGateway(
    {},
    { FIRECRAWL_API_KEY: HOST, TOLLGATE_OWNER_BRAND: 'owner', TOLLGATE_ASK_ABOVE_CREDITS: '0' },
    { connectors: { firecrawl: { baseUrl: standin.url } } },
  )
})
afterAll(async () => {
  await gateway.close()
  await standin.close()
})
beforeEach(() => {
  standin.on('POST /scrape', { json: page })
  standin.on('GET /team/credit-usage', { json: { success: true, data: { remainingCredits: 7 } } })
})
afterEach(async () => {
  for (const { brand, slug } of (await gateway.api('GET', '/v1/connections')).body.items)
    await gateway.api('DELETE', `/v1/connections/${slug}?brand=${brand}`)
  const { violations } = standin
  standin.reset()
  expect(violations).toEqual([])
})

const connectBrand = (brand: string, apiKey: string, slug = 'firecrawl', more = {}) =>
  gateway.api('PUT', `/v1/connections/${slug}?brand=${brand}`, { fields: { apiKey }, ...more })
/** The names of a brand's tools, in a session that is there already. */
const tokenOf = (brand: string) => gateway.token({ brand, role: 'person-chat', approval: { channel: 'inbox' } })
const toolsOf = async (token: string): Promise<string[]> =>
  (await gateway.modern(token, 'tools/list')).answer.result.tools
    .map(({ name }: { name: string }) => name)
    .filter((name: string) => name.startsWith('firecrawl'))
    .sort()
const check = (brand: string, slug = 'firecrawl') => gateway.api('POST', `/v1/connections/${slug}/check?brand=${brand}`)

describe('a connection', () => {
  it('makes tools; its removal takes them out of sessions that are there, and another brings them back', async () => {
    expect(await toolsOf(await tokenOf('acme'))).toEqual([])
    expect((await connectBrand('acme', KEY)).status).toBe(201)
    const token = await tokenOf('acme')
    expect(await toolsOf(token)).toContain('firecrawl__firecrawl_scrape')
    await gateway.api('DELETE', '/v1/connections/firecrawl?brand=acme')
    expect(await toolsOf(token)).toEqual([])
    expect((await connectBrand('acme', OTHER)).status).toBe(201)
    expect(await toolsOf(token)).toContain('firecrawl__firecrawl_scrape')
    const removed = await gateway.api('DELETE', '/v1/connections/firecrawl?brand=acme')
    expect(removed.status).toBe(200)
    expect(await toolsOf(token)).toEqual([])
    expect((await gateway.api('GET', '/v1/connections/firecrawl?brand=acme')).status).toBe(404)
    expect(standin.seen).toEqual([])
  })

  it('is shown without what is secret: which fields are set, when, by whom', async () => {
    const { body } = await connectBrand('acme', KEY)
    expect(body).toMatchObject({
      brand: 'acme',
      slug: 'firecrawl',
      connector: 'firecrawl',
      fields: [{ name: 'apiKey', secret: true, set: true }],
      settings: {},
      status: 'unchecked',
      check: null,
      changedBy: 'operator',
    })
    expect(JSON.stringify(body)).not.toContain(KEY)
    const { body: list } = await gateway.api('GET', '/v1/connections?brand=acme')
    expect(list.items).toEqual([body])
  })

  it('is checked at the vendor with the brand’s own credentials, and says how it stands', async () => {
    await connectBrand('acme', KEY)
    expect((await check('acme')).body).toEqual({ ok: true, said: expect.stringContaining('7 credits') })
    expect(keysSeen()).toEqual([KEY])
    standin.on('GET /team/credit-usage', { status: 401, text: JSON.stringify({ error: `who is ${KEY}?` }) })
    expect((await check('acme')).body).toEqual({ ok: false, said: expect.stringContaining('401') })
    const { body } = await gateway.api('GET', '/v1/connections/firecrawl?brand=acme')
    expect(body.status).toBe('failing')
    expect(JSON.stringify(body)).not.toContain(KEY)
  })

  it.each([
    ['a field that is missing', {}, /apiKey is missing/],
    ['a field nobody asks for', { apiKey: KEY, secret: 'x' }, /secret is not a field/],
    ['a value that cannot be one', { apiKey: 'canary-not-a-key' }, /It begins with "fc-"/],
    ['a value no header can carry', { apiKey: 'fc-canary\nx: y' }, /no header can carry/],
  ])('is refused for %s, and the answer does not repeat it', async (_name, fields, says) => {
    const { status, body } = await gateway.api('PUT', '/v1/connections/firecrawl?brand=acme', { fields })
    expect(status).toBe(422)
    expect(body.detail).toMatch(says)
    expect(JSON.stringify(body)).not.toContain('canary')
  })

  it('is changed only in the version that was looked at, where one is named', async () => {
    const { body: first } = await connectBrand('acme', KEY)
    const { body: second } = await connectBrand('acme', OTHER, 'firecrawl', { version: first.version })
    expect(second.version).toBeGreaterThan(first.version)
    expect((await connectBrand('acme', KEY, 'firecrawl', { version: first.version })).status).toBe(409)
  })

  it('stands beside another of the same connector under a name of its own', async () => {
    await connectBrand('acme', KEY)
    await connectBrand('acme', OTHER, 'firecrawl-eu', { connector: 'firecrawl' })
    const token = await tokenOf('acme')
    const names = await toolsOf(token)
    expect(names).toContain('firecrawl__firecrawl_scrape')
    expect(names).toContain('firecrawl-eu__firecrawl_scrape')
    await check('acme', 'firecrawl-eu')
    expect(keysSeen()).toEqual([OTHER])
  })

  it('is on the record: made, checked, shared, removed, and by whom', async () => {
    await connectBrand('owner', KEY)
    await check('owner')
    await gateway.api('POST', '/v1/connections/firecrawl/share?brand=owner', { brands: ['acme'] })
    await gateway.api('DELETE', '/v1/connections/firecrawl?brand=owner')
    const { body } = await gateway.api('GET', '/v1/audit?brand=owner&limit=4')
    expect(body.items.map(({ kind, by, reason }: any) => [kind, by, reason ?? null])).toEqual([
      ['connection.changed', 'operator', 'removed'],
      ['connection.changed', 'operator', 'shared with acme'],
      ['connection.checked', 'operator', null],
      ['connection.changed', 'operator', 'made: apiKey'],
    ])
    expect(JSON.stringify(body)).not.toContain(KEY)
  })
})

describe('a call', () => {
  const call = async (token: string, args: object) =>
    (await gateway.modern(token, 'tools/call', { name: 'firecrawl__firecrawl_scrape', arguments: args })).answer
  const approveSoon = async () => {
    for (let tries = 0; tries < 200; tries++) {
      const { body } = await gateway.api('GET', '/v1/approvals?status=pending&brand=acme')
      const [card] = body.items
      if (card !== undefined) {
        await gateway.api('POST', `/v1/approvals/${card.id}/approve`, {})
        return card
      }
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    throw new Error('No card came.')
  }

  it('runs with the brand’s credentials, which are in no result, card, record or row', async () => {
    await connectBrand('acme', KEY)
    const token = await tokenOf('acme')
    const calling = call(token, { url: 'https://shop.example/' })
    const card = await approveSoon()
    expect(card.summary).toBe('Read https://shop.example/ with Firecrawl.')
    const { result } = await calling
    expect(result.structuredContent).toMatchObject({ markdown: '# Hello', creditsUsed: 1 })
    expect(keysSeen()).toEqual([KEY])
    const { body: audit } = await gateway.api('GET', '/v1/audit?brand=acme&limit=50')
    const { body: cards } = await gateway.api('GET', '/v1/approvals?brand=acme')
    expect(audit.items.length).toBeGreaterThan(2)
    for (const told of [result, card, audit, cards]) expect(JSON.stringify(told)).not.toContain('canary')
  })

  it('with bad arguments is refused before anybody is asked and before anything leaves', async () => {
    await connectBrand('acme', KEY)
    const { result } = await call(await tokenOf('acme'), { url: 'ftp://shop.example/', speed: 9 })
    expect(result.isError).toBe(true)
    expect(result.content[0].text).toMatch(/^invalid_arguments: .*"url": an http.*"speed" is not an argument/)
    expect((await gateway.api('GET', '/v1/approvals?status=pending&brand=acme')).body.items).toEqual([])
    expect(standin.seen).toEqual([])
  })

  it('that the vendor refuses is told with the vendor’s facts', async () => {
    standin.on('POST /scrape', {
      status: 429,
      json: { success: false, error: 'slow' },
      headers: { 'retry-after': '33' },
    })
    await connectBrand('acme', KEY)
    const calling = call(await tokenOf('acme'), { url: 'https://shop.example/' })
    await approveSoon()
    const { result } = await calling
    expect(result.content[0].text).toMatch(/^rate_limited: Firecrawl answered 429: slow. Wait 33 s/)
    expect(result._meta['dev.tollgate/decision']).toMatchObject({
      code: 'rate_limited',
      vendor: { vendor: 'Firecrawl', http_status: 429, retryable: true, retry_after_s: 33 },
    })
  })
})

describe('whose credentials a brand uses', () => {
  it('its own, then one the owner shared, then, for the owner alone, the host’s', async () => {
    await check('owner')
    expect(await check('acme')).toMatchObject({ status: 404 })
    await connectBrand('owner', OTHER)
    await check('owner')
    const shared = await gateway.api('POST', '/v1/connections/firecrawl/share?brand=owner', { brands: ['acme'] })
    expect(shared.body.sharedWith).toEqual(['acme'])
    const token = await tokenOf('acme')
    expect(await toolsOf(token)).toContain('firecrawl__firecrawl_scrape')
    await check('acme')
    await connectBrand('acme', KEY)
    await check('acme')
    expect(keysSeen()).toEqual([HOST, OTHER, OTHER, KEY])
    await gateway.api('DELETE', '/v1/connections/firecrawl?brand=acme')
    await gateway.api('POST', '/v1/connections/firecrawl/share?brand=owner', { brands: [] })
    expect(await toolsOf(token)).toEqual([])
  })

  it('only the owner can share', async () => {
    await connectBrand('acme', KEY)
    const { status, body } = await gateway.api('POST', '/v1/connections/firecrawl/share?brand=acme', { brands: ['b'] })
    expect([status, body.errors[0].rule]).toEqual([422, 'owner_only'])
  })

  it('tools that do not register are shown to the operator with the reason, and to no session', async () => {
    await connectBrand('acme', KEY)
    const { body } = await gateway.api('GET', '/v1/connectors?brand=acme')
    const { tools, withheld } = body.items.find(({ slug }: any) => slug === 'firecrawl')
    expect(tools.length + withheld.length).toBe(5)
    const { text } = await gateway.modern(await tokenOf('acme'), 'tools/list')
    for (const { tool } of withheld) expect(text).not.toContain(tool)
  })

  it('a brand that has none is told why, tool by tool', async () => {
    const { body } = await gateway.api('GET', '/v1/connectors?brand=acme')
    const row = body.declared.find(({ slug }: any) => slug === 'firecrawl')
    expect(row.withheld.find(({ tool }: any) => tool.endsWith('scrape')).reason).toMatch(/acme has not connected it/)
    expect(row.withheld.find(({ tool }: any) => tool.endsWith('crawl')).reason).toMatch(/later release|not connected/)
  })
})
