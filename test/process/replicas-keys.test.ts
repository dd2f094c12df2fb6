/** Signing keys are turned under running calls, on two gateways at once (reliability B2). */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { barePostgres } from '../support/database.ts'
import { pause, type Replica, startTwo, textOf } from '../support/replica.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

/** The most a retired key may still be believed. */
const BELIEVED_MS = 60_000

let upstream: Upstream
let database: { url: string; close(): Promise<void> }
let a: Replica
let b: Replica

beforeAll(async () => {
  upstream = await startUpstream()
  database = await barePostgres()
  const mcpServers = { up: { type: 'http', url: upstream.url, tools: { '*': 'read' } } }
  ;[a, b] = await startTwo({ databaseUrl: database.url, mcpServers })
}, 120_000)
afterAll(async () => {
  await Promise.all([a?.close(), b?.close()])
  await upstream?.close()
  await database?.close()
})

const kidOf = (token: string): string => JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()).kid

/** Calls with these tokens on both gateways until stopped; what was no good answer. */
function callOn(tokens: string[]): { stop(): Promise<{ sent: number; bad: string[] }> } {
  const bad: string[] = []
  let sent = 0
  let going = true
  const running = tokens.flatMap((token) =>
    [a, b].map(async (replica) => {
      while (going) {
        const answer = await replica.call(token, 'up__echo', { sent: sent++ })
        if (textOf(answer) === undefined) bad.push(`${answer.status} ${answer.text}`)
        await pause(40)
      }
    }),
  )
  return {
    async stop() {
      going = false
      await Promise.all(running)
      return { sent, bad }
    },
  }
}

test('no good call fails while the key is changed, and new tokens carry the new key on both', async () => {
  const old = [(await a.issue()).token, (await b.issue()).token]
  const calls = callOn(old)
  for (let turn = 0; turn < 3; turn++) {
    const { body } = await (turn % 2 ? a : b).api('POST', '/v1/keys/rotate', {})
    const fresh = await (turn % 2 ? a : b).issue()
    expect(kidOf(fresh.token)).toBe(body.kid)
    // The other may not have heard of the key yet, and believes it all the same.
    expect(textOf(await (turn % 2 ? b : a).call(fresh.token, 'up__echo', { turn }))).toBe(`{"turn":${turn}}`)
    await pause(200)
    for (const replica of [a, b]) expect(kidOf((await replica.issue()).token)).toBe(body.kid)
  }
  const { sent, bad } = await calls.stop()
  console.log(`${sent} calls during three rotations, ${bad.length} failed`)
  expect(bad).toEqual([])
  expect(sent).toBeGreaterThan(20)
}, 60_000)

test('once the others are retired, tokens of the old key are refused on both, and those of the new one never', async () => {
  const old = await a.issue()
  for (const replica of [a, b]) expect((await replica.call(old.token, 'up__echo')).status).toBe(200)
  const { body } = await b.api('POST', '/v1/keys/rotate', { retireOthers: true })
  const at = performance.now()
  const fresh = await b.issue()
  expect(kidOf(fresh.token)).toBe(body.kid)
  const calls = callOn([fresh.token])
  const took: number[] = []
  for (const replica of [a, b]) {
    while ((await replica.call(old.token, 'up__echo')).status !== 401) {
      if (performance.now() - at > BELIEVED_MS) throw new Error('A retired key is still believed.')
      await pause(20)
    }
    took.push(Math.round(performance.now() - at))
  }
  console.log(`old tokens refused after ${took.join(' and ')} ms`)
  for (let i = 0; i < 10; i++) {
    for (const replica of [a, b]) expect((await replica.call(old.token, 'up__echo')).status).toBe(401)
  }
  for (const replica of [a, b]) {
    const { keys } = (await replica.api('GET', '/.well-known/jwks.json')).body
    expect(keys.map(({ kid }: { kid: string }) => kid)).toEqual([body.kid])
  }
  expect((await calls.stop()).bad).toEqual([])
}, 90_000)

test('a session issued while the other gateway retires the keys is good, or is not handed out', async () => {
  const dead: string[] = []
  for (let turn = 0; turn < 8; turn++) {
    const [one, other] = turn % 2 ? [a, b] : [b, a]
    const rotated = one.api('POST', '/v1/keys/rotate', { retireOthers: true })
    if (turn % 4 < 2) await rotated
    const issued = await other.issue()
    const after = await rotated
    await pause(100)
    // Signed before the key was retired, it is dead as all tokens of that key are; nobody could know.
    if (kidOf(issued.token) !== after.body.kid && turn % 4 >= 2) continue
    const { status } = await one.call(issued.token, 'up__echo')
    if (status !== 200) dead.push(`turn ${turn}: ${status}`)
  }
  expect(dead).toEqual([])
})

test('two rotations at once leave one active key', async () => {
  await Promise.all([a, b, a, b].map((replica) => replica.api('POST', '/v1/keys/rotate', {})))
  await pause(200)
  const kids = [kidOf((await a.issue()).token), kidOf((await b.issue()).token)]
  expect(kids[0]).toBe(kids[1])
})
