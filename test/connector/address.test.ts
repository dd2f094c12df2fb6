import type { LookupAddress } from 'node:dns'
import { describe, expect, test } from 'vitest'
import { AddressRefused, allowedUrl, pinned, standing } from '../../src/connector/mcp/address.ts'
import { call, connector, entryOf, ready, upstream } from '../support/connectors.ts'
import { FORMS, LOOPBACK, METADATA, NAMES, RANGES } from '../support/forbidden-urls.ts'

const STRICT = { allowPrivate: false, hosts: [] }
const INSIDE = { allowPrivate: true, hosts: [] }

describe('without allowPrivate', () => {
  test.each([...LOOPBACK, ...RANGES, ...METADATA, ...NAMES])('https://%s/ is refused', (host) => {
    expect(() => allowedUrl(`https://${host}/mcp`, STRICT)).toThrow(AddressRefused)
  })

  test.each(FORMS)('%j is refused', (url) => {
    expect(() => allowedUrl(url, STRICT)).toThrow(AddressRefused)
  })

  test.each([
    'https://example.com/mcp',
    'https://example.com:8443/mcp?x=1',
    'https://8.8.8.8/',
    'https://[2606:4700::1111]/',
    'https://bücher.example/',
  ])('%s is fine', (url) => {
    expect(allowedUrl(url, STRICT).protocol).toBe('https:')
  })
})

describe('with allowPrivate', () => {
  test.each([
    'http://127.0.0.1:3000/mcp',
    'http://10.0.0.7/mcp',
    'https://192.168.1.1/',
    'http://[::1]:1/',
    'http://search:8080/mcp',
    'http://localhost:1/',
  ])('%s is fine', (url) => {
    expect(allowedUrl(url, INSIDE)).toBeInstanceOf(URL)
  })

  test.each([
    ...METADATA.map((host) => `http://${host}/`),
    'http://169.254.1.1/',
    'http://0.0.0.0/',
    'http://8.8.8.8/',
    'https://[fe80::1]/',
    'http://metadata/',
  ])('%s is still refused', (url) => {
    expect(() => allowedUrl(url, INSIDE)).toThrow(AddressRefused)
  })
})

test('a host the operator listed may have any address, and only that host', () => {
  const rules = { allowPrivate: false, hosts: ['127.0.0.1'] }
  expect(allowedUrl('http://127.0.0.1:9/', rules).port).toBe('9')
  expect(() => allowedUrl('http://127.0.0.2:9/', rules)).toThrow(AddressRefused)
  expect(() => allowedUrl('file://127.0.0.1/x', rules)).toThrow(AddressRefused)
})

test('standings', () => {
  expect(standing('93.184.216.34')).toBe('public')
  expect(standing('10.1.1.1')).toBe('private')
  expect(standing('169.254.169.254')).toBe('forbidden')
  expect(standing('nonsense')).toBe('forbidden')
})

describe('a name', () => {
  const found = (...addresses: string[]): LookupAddress[] =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))

  function look(addresses: LookupAddress[], rules = STRICT, plain = false): Promise<unknown> {
    const resolver = ((_host: string, _options: unknown, done: (error: null, found: LookupAddress[]) => void) =>
      done(null, addresses)) as never
    return new Promise((resolve, reject) =>
      pinned(plain, rules, resolver)('up.example', { all: true }, (error, given) =>
        error ? reject(error) : resolve(given),
      ),
    )
  }

  test('is connected to the very addresses that were judged', async () => {
    expect(await look(found('93.184.216.34', '2606:4700::1111'))).toEqual(found('93.184.216.34', '2606:4700::1111'))
  })

  test.each([
    ['127.0.0.1'],
    ['93.184.216.34', '10.0.0.1'],
    ['::1'],
    ['::ffff:10.0.0.1'],
    ['169.254.169.254'],
    ['64:ff9b::a00:1'],
    [],
  ])('with %s %s is refused', async (...addresses) => {
    await expect(look(found(...addresses.filter((address) => address !== undefined)))).rejects.toThrow(AddressRefused)
  })

  test('inside is fine where the operator means it, but plain http goes to no public address', async () => {
    expect(await look(found('10.0.0.1'), INSIDE, true)).toEqual(found('10.0.0.1'))
    await expect(look(found('93.184.216.34'), INSIDE, true)).rejects.toThrow('https')
    await expect(look(found('169.254.169.254'), INSIDE, true)).rejects.toThrow(AddressRefused)
  })
})

test('an upstream on a forbidden address is never connected to', async () => {
  const up = await upstream()
  const { connector: literal } = connector(entryOf(up.url, { allowPrivate: false }))
  const { connector: named } = connector(
    entryOf(up.url.replace('127.0.0.1', 'localhost').replace('http:', 'https:'), { allowPrivate: false }),
  )
  await expect.poll(() => [literal.state().state, named.state().state]).toEqual(['failed', 'failed'])
  expect(literal.state().detail).toContain('allowPrivate')
  expect(named.state().detail).toContain('allowPrivate')
  expect(literal.withheld()).toMatchObject([{ tool: 'mcp__up__*', code: 'upstream_unavailable' }])
  expect(up.requests).toEqual([])
})

test('a redirect to another origin is not followed, and no credential goes there', async () => {
  const other = await upstream()
  const up = await upstream()
  const { connector: made } = await ready(up, { headers: { Authorization: 'Bearer upstream-secret' } })
  up.setIntercept((_seen, response) => {
    response.writeHead(307, { location: other.url })
    response.end()
    return true
  })
  expect(await call(made, 'echo')).toMatchObject({ kind: 'failed', code: 'upstream_unavailable', ran: 'no' })
  expect(other.requests).toEqual([])
})
