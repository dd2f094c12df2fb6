/** One attempt: where it may go, how long it may take, and that names cannot change their mind in between (reliability H1). */
import type { LookupAddress } from 'node:dns'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AttemptParts, createAttempts } from '../../../src/approvals/webhooks/attempt.ts'
import { refusalOf, shownUrl } from '../../../src/approvals/webhooks/address.ts'
import { newSecret } from '../../../src/approvals/webhooks/body.ts'
import type { Claimed } from '../../../src/approvals/webhooks/claim.ts'
import { askedPause, pauseAfter } from '../../../src/approvals/webhooks/schedule.ts'
import { FORMS, LOOPBACK, METADATA, NAMES, RANGES } from '../../support/forbidden-urls.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { seal } from './world.ts'

const STRICT = { allowPrivate: false, hosts: [] }
const INSIDE = { allowPrivate: true, hosts: [] }
const never = new AbortController().signal
const secret = newSecret()
/** What names resolve to, instead of asking anyone. */
const resolver = (address: (n: number) => string, calls = { n: 0 }): NonNullable<AttemptParts['resolver']> =>
  ((_name: string, _options: object, done: (error: null, found: LookupAddress[]) => void) => {
    const one = address(calls.n++)
    done(null, [{ address: one, family: one.includes(':') ? 6 : 4 }])
  }) as NonNullable<AttemptParts['resolver']>

let receiver: Receiver
let port: number
beforeAll(async () => {
  receiver = await startReceiver()
  port = Number(new URL(receiver.url).port)
})
afterAll(() => receiver.close())

async function claimed(url: string): Promise<Claimed> {
  return {
    id: '11111111-1111-4111-8111-111111111111',
    webhook: '22222222-2222-4222-8222-222222222222',
    event: 'card.created',
    attempts: 1,
    createdAt: '2026-01-01 00:00:00+00',
    data: '{}',
    sealedData: null,
    format: 'json',
    sealedUrl: await seal.seal(url),
    sealedSecret: await seal.seal(secret),
    sealedOldSecret: null,
  }
}

async function tried(url: string, parts: Partial<AttemptParts> = {}, signal = never) {
  const attempts = createAttempts({ seal, rules: STRICT, userAgent: 'tollgate/test', ...parts })
  try {
    return await attempts.attempt(await claimed(url), signal)
  } finally {
    await attempts.close()
  }
}

describe('an address that nothing may be sent to', () => {
  const hosts = [...LOOPBACK, ...RANGES, ...METADATA, ...NAMES].map((host) => `https://${host}/hook`)

  test.each([...hosts, ...FORMS])('%j is refused when it is registered', async (url) => {
    expect(await refusalOf(url, STRICT)).toEqual(expect.any(String))
  })

  test('is refused when a row holds it all the same, and nothing connects', async () => {
    const before = receiver.connections()
    for (const host of ['127.0.0.1', '127.1', '2130706433', '0x7f.0.0.1', '[::ffff:127.0.0.1]', '0', 'localhost']) {
      const { problem } = await tried(`http://${host}:${port}/hook`)
      expect([host, problem]).toEqual([host, expect.stringMatching(/webhook/)])
    }
    expect(receiver.connections()).toBe(before)
  })

  test('is refused behind a name, when it is registered and when it is connected to', async () => {
    for (const address of ['127.0.0.1', '10.1.2.3', '169.254.169.254', '::1', '::ffff:10.0.0.1']) {
      const rebound = resolver(() => address)
      expect(await refusalOf('https://hooks.example/x', STRICT, rebound)).toMatch(/inside|no webhook may have/)
      expect((await tried('https://hooks.example/x', { resolver: rebound })).problem).toMatch(
        /inside|no webhook may have/,
      )
    }
  })

  test('stays refused where a name changes its address between check and use, in a thousand tries', async () => {
    const before = receiver.connections()
    const flips = resolver((n) => (n % 2 === 0 ? '93.184.215.14' : '127.0.0.1'))
    expect(await refusalOf(`https://hooks.example:${port}/`, STRICT, flips)).toBeUndefined()
    const attempts = createAttempts({ seal, rules: STRICT, userAgent: 't', resolver: resolver(() => '127.0.0.1') })
    const one = await claimed(`https://hooks.example:${port}/`)
    for (let n = 0; n < 1_000; n++) {
      expect((await attempts.attempt(one, never)).problem).toMatch(/is an address inside/)
    }
    await attempts.close()
    expect(receiver.connections()).toBe(before)
  })

  test('says how to allow it', async () => {
    expect(await refusalOf('https://10.0.0.1/', STRICT)).toBe(
      '"10.0.0.1" is an address inside (10.0.0.1); name the host under webhooks.hosts in the configuration file, or set webhooks.allowPrivate there, if that is meant.',
    )
  })
})

describe('an address that the operator means', () => {
  test('is reached where its host is listed, or private addresses are allowed', async () => {
    for (const rules of [INSIDE, { allowPrivate: false, hosts: ['127.0.0.1'] }]) {
      expect(await refusalOf(receiver.url, rules)).toBeUndefined()
      expect(await tried(receiver.url, { rules })).toEqual({ answer: 204 })
    }
  })

  test('does not open metadata addresses, nor http to outside', async () => {
    expect(await refusalOf('http://169.254.169.254/', INSIDE)).toMatch(/no webhook may have/)
    expect(
      (await tried('http://hooks.example/', { rules: INSIDE, resolver: resolver(() => '93.184.215.14') })).problem,
    ).toMatch(/needs https/)
  })
})

describe('an attempt', () => {
  test('ends after its limit, whether no answer comes or one that never ends', async () => {
    const slow = await startReceiver()
    slow.answers(() => {})
    expect(await tried(slow.url, { rules: INSIDE, limitMs: 200 })).toEqual({
      problem: 'It did not answer within 0.2 s.',
    })
    await slow.close()
  })

  test('that is cut off says so', async () => {
    const slow = await startReceiver()
    slow.answers(() => cut.abort())
    const cut = new AbortController()
    expect(await tried(slow.url, { rules: INSIDE }, cut.signal)).toMatchObject({ cut: true })
    await slow.close()
  })

  test('hears what a receiver asks for, and never quotes what it said', async () => {
    const busy = await startReceiver()
    busy.answers((response) => response.writeHead(429, { 'retry-after': '120' }).end('password=hunter2hunter2'))
    expect(await tried(busy.url, { rules: INSIDE })).toEqual({
      answer: 429,
      problem: 'It answered 429.',
      askedMs: 120_000,
    })
    await busy.close()
  })
})

describe('the schedule', () => {
  test('is that of the scheme, eight attempts over about a day', () => {
    const pauses = [1, 2, 3, 4, 5, 6, 7].map((n) => pauseAfter(n, 0.5)! / 1_000)
    expect(pauses).toEqual([5, 300, 1_800, 7_200, 18_000, 36_000, 36_000])
    expect(pauses.reduce((sum, pause) => sum + pause) / 3_600).toBeCloseTo(27.6, 1)
    expect(pauseAfter(8, 0.5)).toBeUndefined()
  })

  test('varies by a tenth, and heeds a longer wish up to an hour', () => {
    expect([pauseAfter(1, 0), pauseAfter(1, 1)]).toEqual([4_500, 5_500])
    expect(pauseAfter(1, 0.5, 60_000)).toBe(60_000)
    expect(pauseAfter(1, 0.5, 1e9)).toBe(3_600_000)
    expect([
      askedPause('10'),
      askedPause('-1'),
      askedPause('Fri, 01 Jan 2027 00:00:00 GMT'),
      askedPause(undefined),
    ]).toEqual([10_000, 0, 0, 0])
  })
})

test.each([
  [
    'https://hooks.slack.com/services/T000/B000/abcdefghijklmnopqrstuvwx',
    'https://hooks.slack.com/services/T000/B000/abc…',
  ],
  ['https://app.example/hooks/tollgate', 'https://app.example/hooks/tollgate'],
  ['https://app.example:8443/hook?key=abc&x=1', 'https://app.example:8443/hook?…'],
])('%s is shown as %s', (url, shown) => {
  expect(shownUrl(url)).toBe(shown)
})
