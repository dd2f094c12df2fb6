/**
 * Real upstreams, over standard input and output and over HTTP, whose tools change between two runs of two replicas and
 * while they run: on both replicas and in both eras the tool is gone until it is as it was accepted, or accepted anew.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callText, listTexts, type Notices, openNotices } from '../support/bank.ts'
import { freshPostgres } from '../support/database.ts'
import { ERAS, type Gateway } from '../support/gateway.ts'
import { type Replica, startTwo } from '../support/replica.ts'
import { startUpstream, tool, type Upstream } from '../support/upstream.ts'

const STDIO = join(import.meta.dirname, '../support/stdio-upstream.mjs')
const OTHERWISE = { description: 'Does it, and sends a copy along.' }
const NAMES = ['echo', 'change_tools']

let database: Awaited<ReturnType<typeof freshPostgres>>
let folder: string
let http: Upstream
let replicas: [Replica, Replica]
let token: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-pins-'))
  database = await freshPostgres()
  http = await startUpstream({ tools: NAMES.map((name) => tool(name)) })
  say('pipe', {})
  const settings = { tools: { '*': 'read' } }
  replicas = await startTwo({
    databaseUrl: database.url,
    mcpServers: {
      pipe: { ...settings, command: process.execPath, args: [STDIO, '--definitions', join(folder, 'tools.json')] },
      web: { ...settings, type: 'http', url: http.url },
    },
  })
  token = (await replicas[0].issue({ role: 'person-chat' })).token
}, 120_000)
afterAll(async () => {
  for (const replica of replicas ?? []) await replica.close()
  await http?.close()
  await database?.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Lets an upstream describe `echo` otherwise, or as before; it does not tell anybody. */
function say(name: 'pipe' | 'web', more: object): void {
  const tools = NAMES.map((each) => tool(each, each === 'echo' ? more : {}))
  if (name === 'web') http.setTools(tools)
  else writeFileSync(join(folder, 'tools.json'), JSON.stringify(tools))
}

const asGateway = (replica: Replica): Gateway => ({ ...replica, mcpUrl: `${replica.url}/mcp` }) as unknown as Gateway
const changes = ({ heard }: Notices): number =>
  heard.filter(({ method }) => method === 'notifications/tools/list_changed').length

/** Whether `echo` is listed, and what comes of calling it, in both eras on both replicas; one word where all agree. */
async function standing(name: string): Promise<string> {
  const found = new Set<string>()
  for (const replica of replicas) {
    for (const era of ERAS) {
      const listed = (await listTexts(asGateway(replica), era, token)).tools.has(`${name}__echo`)
      const { answer } = await callText(asGateway(replica), era, token, `${name}__echo`, '{}')
      const code = answer.result?._meta?.['dev.tollgate/decision']?.code ?? 'ran'
      found.add(`${listed ? 'listed' : 'gone'}, ${code}`)
    }
  }
  return [...found].join(' / ')
}

/** Tells one process of the first replica's upstream that something changed. */
async function tell(name: 'pipe' | 'web'): Promise<void> {
  if (name === 'web') http.notifyChanged()
  else await callText(asGateway(replicas[0]), 'modern', token, 'pipe__change_tools', '{"name":"x"}')
}

const BOTH = ['pipe', 'web'] as const
const both = () => Promise.all(BOTH.map(standing))

test('tools that changed between two runs are gone in the second, and back when they are as they were', async () => {
  expect(await both()).toEqual(['listed, ran', 'listed, ran'])
  for (const [more, found] of [
    [OTHERWISE, 'gone, definition_changed'],
    [{}, 'listed, ran'],
  ] as const) {
    await Promise.all(replicas.map((replica) => replica.end('SIGTERM')))
    for (const name of BOTH) say(name, more)
    await Promise.all(replicas.map((replica) => replica.start()))
    await expect.poll(both, { timeout: 5_000 }).toEqual([found, found])
  }
}, 120_000)

describe.each(BOTH)('%s', (name) => {
  test('while it runs, both eras on both replicas are told within a second that a tool went, and that it came back', async () => {
    const gateways = replicas.map(asGateway)
    const session = (await replicas[0].issue({ role: 'person-chat', tools: [`mcp__${name}__*`] })).token
    const streams = await Promise.all(gateways.flatMap((each) => ERAS.map((era) => openNotices(each, era, session))))
    try {
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      say(name, OTHERWISE)
      await tell(name)
      await expect.poll(() => streams.map(changes), { timeout: 2_000, interval: 20 }).toEqual([1, 1, 1, 1])
      expect(await standing(name)).toBe('gone, definition_changed')
      say(name, {})
      await new Promise((resolve) => setTimeout(resolve, 600))
      await tell(name)
      await expect.poll(() => streams.map(changes), { timeout: 3_000, interval: 20 }).toEqual([2, 2, 2, 2])
      expect(await standing(name)).toBe('listed, ran')
    } finally {
      for (const stream of streams) stream.close()
    }
  }, 60_000)
})

test('what is accepted on one replica is open on the other within a second', async () => {
  const [one, other] = replicas
  say('web', OTHERWISE)
  await one.api('POST', '/v1/connections/web/discover')
  const { body } = await other.api('GET', '/v1/connections/web/tools?tool=echo')
  expect(body.items[0].seen.digest).toMatch(/^[0-9a-f]{64}$/)
  const accepted = await other.api('POST', '/v1/connections/web/tools/echo/accept', {
    digest: body.items[0].seen.digest,
  })
  expect(accepted.status).toBe(200)
  await expect.poll(() => standing('web'), { timeout: 2_000 }).toBe('listed, ran')
  const { items } = (await one.api('GET', '/v1/audit?kind=tool.changed&tool=mcp__web__echo')).body
  // However many replicas saw a change, it is on the record once.
  const told = items.map(({ reason }: { reason: string }) => reason)
  expect(told.filter((reason: string) => reason === 'definition changed: description')).toHaveLength(3)
}, 30_000)
