/** While nobody can say whether a session is revoked, nothing is let through; and it comes back by itself. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ERAS, type Gateway, speaker, startGateway } from '../support/gateway.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { startUpstream, tool, type Upstream } from '../support/upstream.ts'

let server: PostgresServer
let upstream: Upstream
let gateway: Gateway
let token: string
/** Good, and never seen before the database went. */
let fresh: string

beforeAll(async () => {
  server = await startPostgres()
  upstream = await startUpstream({ tools: [tool('echo'), tool('write_file')] })
  gateway = await startGateway(
    { u: { type: 'http', url: upstream.url, tools: { echo: 'read' } } },
    { DATABASE_URL: `${server.url}/postgres` },
  )
  await gateway.running.settled(5_000)
  token = await gateway.token({ role: 'person-chat' })
  fresh = await gateway.token({ role: 'person-chat' })
})

afterAll(async () => {
  await gateway?.close()
  await upstream?.close()
  await server?.stop()
})

const works = async (): Promise<boolean> => {
  const { answer } = await gateway.modern(token, 'tools/call', { name: 'u__echo', arguments: {} })
  return answer.result?.content?.[0].text === '{}'
}

const SENTENCE =
  'The gateway cannot check the session right now, so it lets nothing through. Try again in a few seconds.'

test.each(['kill', 'pause'] as const)(
  'after %s of the database every door answers 503, nothing is reached, and it comes back',
  async (how) => {
    const speakers = await Promise.all(ERAS.map((era) => speaker(gateway, era, token)))
    const unseen = await speaker(gateway, 'modern', fresh)
    expect(await works()).toBe(true)
    await server[how]()
    // Longer than the gateway believes what it last read of revocations.
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    const before = upstream.of('tools/call').length
    try {
      const tries = ['u__echo', 'u__write_file'].flatMap((name) =>
        [...speakers, unseen].map((speak) => ({ speak, name })),
      )
      await Promise.all(
        tries.map(async ({ speak, name }) => {
          const started = performance.now()
          const { status, headers, answer } = await speak('tools/call', { name, arguments: {} })
          expect({ status, again: headers.get('retry-after'), challenge: headers.get('www-authenticate') }).toEqual({
            status: 503,
            again: '2',
            challenge: null,
          })
          expect(answer).toEqual({ error: 'temporarily_unavailable', error_description: SENTENCE })
          expect(performance.now() - started).toBeLessThan(3_500)
        }),
      )
      const bad = await gateway.rpc('x.y.z', 'tools/list')
      expect(bad.status).toBe(401)
      expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
      expect((await fetch(`${gateway.url}/readyz`)).status).toBe(503)
      expect((await gateway.api('POST', '/v1/sessions', { role: 'person-chat' })).status).toBe(503)
    } finally {
      await server[how === 'kill' ? 'start' : 'resume']()
    }
    expect(upstream.of('tools/call')).toHaveLength(before)
    await expect.poll(works, { timeout: 5_000 }).toBe(true)
  },
  40_000,
)
