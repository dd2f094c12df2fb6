import { describe, expect, test } from 'vitest'
import { childEnvironment, withoutValues } from '../../src/connector/mcp/environment.ts'
import { createLineReader } from '../../src/connector/mcp/lines.ts'
import { createNoise } from '../../src/connector/mcp/noise.ts'
import { createOutbox } from '../../src/connector/mcp/outbox.ts'

function read(chunks: Buffer[], limit = 100) {
  const lines: string[] = []
  const long: Array<[number, number]> = []
  const reader = createLineReader({
    limit,
    onLine: (line) => void lines.push(line.toString('utf8')),
    onTooLong: (beginning, ending) => void long.push([beginning.length, ending.length]),
  })
  for (const chunk of chunks) reader.push(chunk)
  reader.end()
  return { lines, long }
}

const bytesOf = (text: string) => [...Buffer.from(text)].map((byte) => Buffer.from([byte]))

describe('lines', () => {
  test('come out the same however the bytes are cut', () => {
    const text = 'one\n\nzwölf 🚪\r\nlast'
    const expected = ['one', '', 'zwölf 🚪', 'last']
    expect(read([Buffer.from(text)]).lines).toEqual(expected)
    expect(read(bytesOf(text)).lines).toEqual(expected)
    for (let at = 1; at < Buffer.byteLength(text); at++) {
      const bytes = Buffer.from(text)
      expect(read([bytes.subarray(0, at), bytes.subarray(at)]).lines).toEqual(expected)
    }
  })

  test('that are too long are skipped, and the next one is read', () => {
    const text = `${'a'.repeat(11)}\nok\n${'b'.repeat(10)}\n${'c'.repeat(5000)}\nend`
    const expected = ['ok', 'bbbbbbbbbb', 'end']
    expect(read([Buffer.from(text)], 10)).toEqual({
      lines: expected,
      long: [
        [11, 11],
        [1024, 1024],
      ],
    })
    expect(read(bytesOf(text), 10).lines).toEqual(expected)
  })
})

describe('the environment of a child', () => {
  test('holds the base names and what the entry gives, nothing else', () => {
    const host = {
      PATH: '/bin',
      HOME: '/h',
      DATABASE_URL: 'postgres://u:p@h',
      TOLLGATE_SECRET: 's',
      SHELL: '() { :; }',
    }
    expect(childEnvironment(host, { API: 'x', HOME: '/other' }, 'linux')).toEqual({
      PATH: '/bin',
      HOME: '/other',
      API: 'x',
    })
    expect(childEnvironment({ ...host, APPDATA: 'a' }, {}, 'win32')).toEqual({ PATH: '/bin', APPDATA: 'a' })
  })

  test("is blanked out of a text, a value within another's last", () => {
    const redact = withoutValues({ A: 'secret-one', B: 'secret-one-two', C: 'abc' })
    expect(redact('secret-one-two secret-one abc')).toBe('[redacted] [redacted] abc')
  })
})

test('noise is bounded in number and length, and says what it left out', () => {
  const written: Array<{ line: string; leftOut?: number }> = []
  let now = 0
  const noise = createNoise({
    write: (fields) => void written.push(fields as never),
    redact: (text) => text,
    now: () => now,
  })
  for (let i = 0; i < 1000; i++) noise(Buffer.from(`line ${i}`))
  expect(written.length).toBe(100)
  now = 1000
  noise(Buffer.alloc(50_000, 0x61))
  expect(written[100]?.leftOut).toBe(900)
  expect(written[100]?.line.length).toBe(1001)
})

test('an outbox keeps order behind a full pipe, and refuses when too much waits', () => {
  const out: string[] = []
  let room = 1
  const write = (text: string) => {
    out.push(text)
    return --room > 0
  }
  const outbox = createOutbox({ limit: 4, write })
  const first = outbox.send('1')
  const second = outbox.send('22')
  const third = outbox.send('33')
  expect([first?.sent, second?.sent, third?.sent]).toEqual([true, false, false])
  expect(outbox.send('4')).toBeUndefined()
  outbox.withdraw(second!)
  const fourth = outbox.send('4')
  room = 2
  outbox.drain()
  expect(out).toEqual(['1', '33', '4'])
  expect([second?.sent, third?.sent, fourth?.sent]).toEqual([false, true, true])
})
