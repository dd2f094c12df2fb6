import { describe, expect, it } from 'vitest'
import { dataforseo } from '../../connectors/dataforseo.ts'
import { most } from '../../connectors/dataforseo/price.ts'
import { dataforseoContract } from './contracts/dataforseo.ts'
import { done, USER_DATA, userData } from './dataforseo/answers.ts'
import { tools } from './dataforseo/cases.ts'
import { testConnector } from './suite.ts'
import { bench } from './world.ts'

const fields = { login: 'canary-login@shop.example', password: 'canary9f2e71c4b0aa55d3' }
const basic = `Basic ${Buffer.from(`${fields.login}:${fields.password}`).toString('base64')}`

const { bench: made, standin } = testConnector({
  connector: dataforseo,
  contract: dataforseoContract,
  fields,
  auth: ({ authorization }) => (authorization === basic ? undefined : 'the login is missing or not as sent'),
  prices: { [USER_DATA]: userData() },
  check: { answers: { [USER_DATA]: userData() }, says: /\$48\.25 is left/ },
  tools,
})

describe('the price of a call', () => {
  const at = 'a.live'
  const listed = (parts: unknown) => ({ a: { live: { priority_normal: parts } } })

  it.each<[string, unknown]>([
    ['there is no price list', undefined],
    ['the list lacks the call', { a: {} }],
    ['the list has no price of it', listed([])],
    ['it counts in another way', listed([{ cost_type: 'per_keyword', cost: 1 }])],
    ['a price is no number', listed([{ cost_type: 'per_request', cost: '1' }])],
    ['a price is below nothing', listed([{ cost_type: 'per_request', cost: -1 }])],
    ['a price is nonsense', listed([{ cost_type: 'per_request', cost: Number.NaN }])],
  ])('is unknown where %s', (_name, prices) => {
    expect(most(prices, at, 10)).toBeUndefined()
  })

  it.each<[number, number, string]>([
    [0.00012, 1_000, '0.12'],
    [0.1, 3, '0.3'],
    [0.000000001, 7, '0.000000007'],
    [0, 5, '0'],
  ])('of %d a row for %d rows is exact', (cost, rows, sum) => {
    expect(most(listed([{ cost_type: 'per_result', cost }]), at, rows)).toBe(sum)
  })

  it.each([
    ['the first ten', 'red shoes', 10, '0.002'],
    ['one more is ten more', 'red shoes', 11, '0.0035'],
    ['a hundred', 'red shoes', 100, '0.0155'],
    ['an operator', 'inurl:shoes', 10, '0.01'],
    ['a colon that is none', 'shoes: red', 10, '0.01'],
  ])('of a results page: %s', (_name, keyword, depth, amount) => {
    const args = { keyword, depth, locationCode: 2276, languageCode: 'de' }
    expect(made().tool('dataforseo_serp_organic').meter?.estimate(JSON.stringify(args))).toEqual({
      unit: 'usd',
      amount,
    })
  })

  it('is read once and kept', async () => {
    standin().on(USER_DATA, userData())
    await made().prepare()
    expect(standin().seen).toEqual([])
  })

  it('is unknown, and costs no call, while the account cannot be read; and known as soon as it can', async () => {
    const other = bench(dataforseo, standin().url, fields)
    const estimate = () => other.tool('dataforseo_trends').meter?.estimate(JSON.stringify({ keywords: ['a'] }))
    standin().on(USER_DATA, { status: 500, json: { status_code: 50000, status_message: 'Internal Error.' } })
    await other.prepare()
    expect(estimate()).toBeUndefined()
    standin().on(USER_DATA, done(0, [{ login: 'a' }]))
    await other.prepare()
    expect(estimate()).toBeUndefined()
    standin().on(USER_DATA, userData())
    await other.prepare()
    expect(estimate()).toEqual({ unit: 'usd', amount: '0.0012' })
    expect(other.tool('dataforseo_account').meter?.estimate('{}')).toEqual({ unit: 'usd', amount: '0' })
    await other.close()
  })
})

describe('the joint tool', () => {
  it('is declared, and not registered while what it joins is not built', () => {
    expect(
      made()
        .connector.tools()
        .map(({ ownName }) => ownName),
    ).not.toContain('seo_page_opportunities')
    const left = made()
      .connector.left?.()
      .find(({ tool }) => tool.endsWith('seo_page_opportunities'))
    expect(left?.reason).toMatch(/joins dataforseo, searchconsole and shopify/)
  })
})
