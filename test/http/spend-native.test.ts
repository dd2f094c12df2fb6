/** Spend of a native connector, end to end: the seed's specialist, whose scrapes are charged and whose overdraft is refused. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../support/gateway.ts'

let vendor: Server
let gateway: Gateway
let asked: string[] = []
beforeAll(async () => {
  vendor = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    const metadata = { url: 'https://example.com/', statusCode: 200, creditsUsed: 3 }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ success: true, data: { markdown: '# Hello', metadata } }))
  })
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve))
  const baseUrl = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`
  gateway = await startGateway({}, {}, { connectors: { firecrawl: { baseUrl, allowPrivate: true } } })
  const put = await gateway.api('PUT', '/v1/connections/firecrawl', { fields: { apiKey: 'fc-test-key-0123456789' } })
  expect(put.status).toBeLessThan(300)
})
afterAll(async () => {
  await gateway?.close()
  vendor?.close()
})

test('a specialist’s scrape is charged, and one beyond its allowance is refused with nothing spent', async () => {
  const grant = { connectors: ['firecrawl'], allowance: { firecrawl: { perRunCredits: 8, perDayCredits: 100 } } }
  const { status, body } = await gateway.api('POST', '/v1/sessions', {
    role: 'specialist',
    tools: ['firecrawl/firecrawl_scrape'],
    grant,
  })
  expect([status, body.tools]).toEqual([
    201,
    [
      {
        name: 'mcp__firecrawl__firecrawl_scrape',
        listedAs: 'firecrawl__firecrawl_scrape',
        access: 'spend',
        asks: false,
      },
    ],
  ])
  const scrape = async (pdfPages: number) => {
    const args = { url: 'https://example.com/', pdfPages }
    const call = { name: 'firecrawl__firecrawl_scrape', arguments: args }
    return (await gateway.rpc(body.token, 'tools/call', call)).answer.result
  }
  asked = []
  expect((await scrape(4))._meta['dev.tollgate/decision']).toEqual({
    code: 'ok',
    spend: { cost: { unit: 'credits', amount: '3' }, left: '5' },
  })
  expect(asked).toEqual(['POST /scrape'])
  expect((await scrape(5))._meta['dev.tollgate/decision']).toMatchObject({
    code: 'allowance_exhausted',
    spend: { cost: { amount: '6' }, left: '5' },
  })
  expect((await scrape(-1))._meta['dev.tollgate/decision']).toMatchObject({ code: 'invalid_arguments' })
  expect(asked).toHaveLength(1)
  const { spend } = (await gateway.api('GET', `/v1/sessions/${body.id}`)).body
  expect(spend).toEqual([
    { connector: 'firecrawl', unit: 'credits', most: '8', handedOn: '0', reserved: '0', spent: '3', left: '5' },
  ])
})
