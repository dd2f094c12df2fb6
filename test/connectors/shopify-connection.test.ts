/**
 * What a brand states to connect Shopify, how a token comes of it, and its calls through the real gate.
 * @module
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { connection } from '../../connectors/shopify/connection.ts'
import { shopify } from '../../connectors/shopify.ts'
import { fieldProblems } from '../../src/connector/native/values.ts'
import { createVendor } from '../../src/connector/native/vendor.ts'
import { startGateway } from '../support/gateway.ts'
import { answering, GRAPHQL, shopifyContract, TOKEN } from './contracts/shopify.ts'
import { type ConnectorGateway, startConnectorGateway } from './gateway.ts'
import { changed, KEY, MUTATION, PATH, rename, SHOP, shop } from './shopify/answers.ts'
import { FORBIDDEN, JUDGED } from './shopify/documents.ts'
import { type Standin, startStandin } from './standin.ts'
import { bench, resultOf } from './world.ts'

const MINTED = 'shpat_m1nted0123456789abcdef0123456'
const RENEWED = 'shpat_r3newed0123456789abcdef012345'

let standin: Standin
beforeAll(async () => {
  const known = [KEY, MINTED, RENEWED]
  standin = await startStandin(shopifyContract, {
    auth: (headers, path) => {
      const token = headers['x-shopify-access-token']
      const fine = path === '/admin/oauth/access_token' ? token === undefined : known.includes(String(token))
      return fine ? undefined : 'the token is missing, or where it should not be'
    },
  })
})
afterAll(() => standin.close())
afterEach(() => {
  const wrong = [...standin.violations]
  standin.reset()
  expect(wrong, 'what the contract does not allow').toEqual([])
})

describe('client credentials', () => {
  const fields = {
    shop: SHOP,
    clientId: '0123456789abcdef0123456789abcdef',
    clientSecret: 'shpss_canary0123456789abcdef012345',
  }
  const token = { json: { access_token: MINTED, scope: 'read_products', expires_in: 86_399 } }
  const grant = { grant_type: 'client_credentials', client_id: fields.clientId, client_secret: fields.clientSecret }
  const carried = () => standin.seen.map(({ path, headers }) => [path, headers['x-shopify-access-token']])
  const connected = () => bench(shopify, standin.url, fields)

  it('become a token once, however many calls there are', async () => {
    const one = connected()
    standin.on(TOKEN, token)
    standin.on(GRAPHQL, answering({ shop }))
    const answers = await Promise.all([1, 2, 3].map(() => one.call('shopify_shop_info', {})))
    expect(answers.map(({ kind }) => kind)).toEqual(['result', 'result', 'result'])
    expect(carried()[0]).toEqual(['/admin/oauth/access_token', undefined])
    expect(standin.seen[0]?.body).toEqual(grant)
    expect(carried().slice(1)).toEqual(Array(3).fill([PATH, MINTED]))
    await one.close()
  })

  it('are asked for another token once, where the one is refused', async () => {
    const one = connected()
    standin.on(TOKEN, token, { json: { access_token: RENEWED, expires_in: 86_399 } })
    const gone = { status: 401, json: { errors: '[API] Invalid API key or access token' } }
    standin.on(GRAPHQL, gone, answering({ shop }))
    expect(await one.call('shopify_shop_info', {})).toMatchObject({ kind: 'result' })
    expect(carried().map(([, sent]) => sent)).toEqual([undefined, MINTED, undefined, RENEWED])
    await one.close()
  })

  it.each([
    [
      'refused',
      { status: 400, json: { error: 'invalid_client' } },
      /400 \(invalid_client\): It does not take the client ID/,
    ],
    ['answered with no token', { text: '{}' }, /gave no access token/],
  ])('that are %s end the call before the API is asked', async (_, answer, says) => {
    const one = connected()
    standin.on(TOKEN, answer)
    const said = await one.call('shopify_shop_info', {})
    expect(said).toMatchObject({ kind: 'failed', code: 'upstream_unavailable', ran: 'no' })
    expect(said).toMatchObject({ reason: expect.stringMatching(says) })
    expect(JSON.stringify(said)).not.toContain(fields.clientSecret)
    expect(carried()).toEqual([['/admin/oauth/access_token', undefined]])
    await one.close()
  })
})

describe('a connection', () => {
  const ID = { clientId: '0123456789abcdef0123456789abcdef' }
  const SECRET = { clientSecret: 'shpss_canary0123456789abcdef012345' }
  const problems = (values: object): string[] =>
    fieldProblems(shopify.connection?.fields ?? {}, { shop: SHOP, ...values }).map(({ field }) => field)

  it.each<[object, string[]]>([
    [{ ...ID, ...SECRET }, []],
    [{ accessToken: KEY }, []],
    [{ accessToken: KEY, version: '2027-01' }, []],
    [{}, ['clientId', 'clientSecret']],
    [ID, ['clientSecret']],
    [{ ...ID, ...SECRET, accessToken: KEY }, ['clientId', 'clientSecret']],
    [{ accessToken: SECRET.clientSecret }, ['accessToken']],
    [{ accessToken: KEY, version: '2026-11' }, ['version']],
  ])('of %j has problems with %j', (values, wanted) => {
    expect(problems(values)).toEqual(wanted)
  })

  it.each([
    'acme.example',
    'https://acme.myshopify.com',
    'acme.myshopify.com.evil.example',
    'evil.example/acme.myshopify.com',
    'evil.example#.myshopify.com',
    'a.b.myshopify.com',
    '-acme.myshopify.com',
    'ACME.myshopify.com',
    'user@acme.myshopify.com',
    'acme.myshopify.com:8443',
    'acme.myshopify.com\n',
    '.myshopify.com',
  ])('is not to %j', (host) => {
    expect(problems({ shop: host, accessToken: KEY })).toEqual(['shop'])
  })

  it('reaches its own host, at the version that was set', async () => {
    const real = createVendor({ ...shopify, connection })
    expect(real.address({ shop: SHOP })).toBe(`https://${SHOP}`)
    await real.close()
    const one = bench(shopify, standin.url, { shop: SHOP, accessToken: KEY, version: '2026-07' })
    standin.on(GRAPHQL, answering({ shop }, { version: '2026-07' }))
    expect(resultOf(await one.call('shopify_shop_info', {}))).not.toHaveProperty('warnings')
    expect(standin.seen[0]?.path).toBe('/admin/api/2026-07/graphql.json')
    await one.close()
  })
})

describe('through the gate', () => {
  let gateway: ConnectorGateway
  const session = async (approval: object) =>
    (await gateway.api('POST', '/v1/sessions', { brand: 'default', role: 'person-chat', ...approval })).body.token
  const call = (token: string, args: object) => gateway.call(token, 'shopify__shopify_admin_graphql', args)
  beforeAll(async () => {
    gateway = await startConnectorGateway('shopify', standin.url)
    await gateway.api('PUT', '/v1/connections/shopify', { fields: { shop: SHOP, accessToken: KEY } })
  })
  afterAll(() => gateway.close())

  it('a mutation that a person approved runs once, and the card says what it changes', async () => {
    standin.on(GRAPHQL, changed)
    const { result, cards } = await call(await gateway.token('default'), rename)
    expect(result.structuredContent).toMatchObject({ data: { productUpdate: { product: { title: 'New' } } } })
    expect(cards.map(({ summary }) => summary)).toEqual([
      `Change the shop ${SHOP}: productUpdate(product: {id: "gid://shopify/Product/1", title: "New"}). Called Rename.`,
    ])
    expect(standin.seen).toHaveLength(1)
  })

  it('a mutation never runs where nobody can be asked, in whatever dress; a query does', async () => {
    const token = await session({ approval: { channel: 'none' } })
    for (const [args, mutates] of JUDGED.filter(([, mutates]) => mutates)) {
      const { text, cards } = await call(token, args)
      expect([args.query, mutates, cards, text]).toEqual([
        args.query,
        true,
        [],
        expect.stringContaining('approval_required'),
      ])
    }
    expect(standin.seen).toEqual([])
    standin.on(GRAPHQL, answering({ shop }))
    const { result } = await call(token, { query: `query A { shop { name } } ${MUTATION}`, operationName: 'A' })
    expect(result.structuredContent).toMatchObject({ data: { shop: { name: 'Acme' } } })
    expect(standin.seen).toHaveLength(1)
  })

  it('what cannot be judged asks nobody and sends nothing', async () => {
    const token = await gateway.token('default')
    for (const { args } of Object.values(FORBIDDEN)) {
      const { text, cards } = await call(token, args)
      expect([cards, text]).toEqual([[], expect.stringContaining('forbidden_arguments')])
    }
    expect(standin.seen).toEqual([])
  })
})

it('a mutation is refused whoever would approve it where the operator allows none; a query runs', async () => {
  const gateway = await startGateway({}, {}, { connectors: { shopify: { baseUrl: standin.url } } })
  try {
    await gateway.api('PUT', '/v1/connections/shopify', { fields: { shop: SHOP, accessToken: KEY } })
    const token = await gateway.token({ brand: 'default', role: 'person-chat', approval: { channel: 'inbox' } })
    const call = async (args: object) =>
      (await gateway.rpc(token, 'tools/call', { name: 'shopify__shopify_admin_graphql', arguments: args })).text
    expect(await call(rename)).toContain('SHOPIFY_ALLOW_WRITES')
    expect(standin.seen).toEqual([])
    standin.on(GRAPHQL, answering({ shop }))
    expect(await call({ query: '{ shop { name } }' })).toContain('Acme')
  } finally {
    await gateway.close()
  }
})
