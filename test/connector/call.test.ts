import { describe, expect, test } from 'vitest'
import { call, ready, textOf, upstream } from '../support/connectors.ts'
import type { UpstreamOptions } from '../support/upstream.ts'

const WORLDS: Array<[string, UpstreamOptions]> = [
  ['modern, JSON', { era: 'modern' }],
  ['modern, SSE', { era: 'modern', answers: 'sse' }],
  ['legacy without sessions', { era: 'legacy' }],
  ['legacy with sessions, SSE', { era: 'legacy', sessions: true, answers: 'sse' }],
  ['both eras', { era: 'both' }],
]

describe.each(WORLDS)('an upstream that is %s', (_name, options) => {
  test('lists its tools and runs a call once', async () => {
    const up = await upstream(options)
    const { connector } = await ready(up)
    expect(connector.tools().map((found) => found.name)).toContain('mcp__up__echo')
    const answer = await call(connector, 'echo', '{"n":9007199254740993,"f":1.0,"big":1e400,"t":"ё🎈"}')
    expect(textOf(answer)).toBe('{"n":9007199254740993,"f":1.0,"big":1e400,"t":"ё🎈"}')
    expect(up.ledger).toHaveLength(1)
  })

  test('has its progress relayed without the token', async () => {
    const up = await upstream(options)
    const { connector } = await ready(up)
    const notices: string[] = []
    const answer = await call(connector, 'progress', {}, { onProgress: (params) => notices.push(params) })
    expect(textOf(answer)).toBe('progressed')
    expect(notices).toEqual([1, 2, 3].map((i) => `"progress":${i},"total":3,"message":"step ${i}"`))
  })
})
