import type { LookupAddress } from 'node:dns'
import { describe, expect, test } from 'vitest'
import { AddressRefused, allowedUrl, pinned, standing } from '../../src/connector/mcp/address.ts'
import { call, connector, entryOf, ready, upstream } from '../support/connectors.ts'

const STRICT = { allowPrivate: false, hosts: [] }
const INSIDE = { allowPrivate: true, hosts: [] }

const LOOPBACK = [
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0177.0.0.1',
  '0x7f.0.0.1',
  '0x7f000001',
  '0',
  '0.0.0.0',
  '127.0.0.1.',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  '[0:0:0:0:0:ffff:7f00:1]',
  '①②⑦.0.0.1',
  '127。0。0。1',
]
const RANGES = [
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '100.64.0.1',
  '169.254.1.1',
  '224.0.0.1',
  '198.18.0.1',
  '192.0.2.1',
  '198.51.100.1',
  '203.0.113.1',
  '240.0.0.1',
  '255.255.255.255',
  '[fc00::1]',
  '[fd12::1]',
  '[fe80::1]',
  '[ff02::1]',
  '[2001:db8::1]',
  '[fec0::1]',
  '[100::1]',
  '[5f00::1]',
  '[2001::1]',
]
const METADATA = [
  '169.254.169.254',
  '100.100.100.200',
  '[fd00:ec2::254]',
  '192.0.0.192',
  '[::ffff:169.254.169.254]',
  '168.63.129.16',
]
const NAMES = ['metadata.google.internal', 'metadata', 'METADATA.google.internal.', 'instance-data']
const FORMS = [
  'file:///etc/passwd',
  'gopher://example.com/',
  'ftp://example.com/',
  'data:text/plain,x',
  'unix:/run/x.sock',
  'ws://example.com/',
  'wss://example.com/',
  'javascript:alert(1)',
  'https://user@example.com/',
  'https://user:pass@example.com/',
  'https://@example.com/',
  'https://example.com\\@evil.com/',
  'https:\\\\example.com/',
  'https://exa\tmple.com/',
  'https://example.com/\n',
  ' https://example.com/',
  'https://example.com:0/',
  'https://example.com:65536/',
  'https://',
  'https:///path',
  '',
  'example.com',
  'https://[::1',
  'https://[fe80::1%25eth0]/',
  'http://example.com/',
]

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
