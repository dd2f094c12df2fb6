/** Real MCP servers behind the gateway, seen through real clients of both eras. */
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { freePort, type Gateway, startGateway } from '../support/gateway.ts'
import { type ConnectOptions, type Kind, sdkV1, sdkV2Auto, type TestClient, textOf, until } from './kit.ts'
import { IMAGE, LINK, type RealServer, v1Server, v2Server, WEATHER } from './servers.ts'

const programOf = (name: string): string =>
  createRequire(import.meta.url).resolve(`@modelcontextprotocol/${name}/dist/index.js`)

let folder: string
let docs: string
let gateway: Gateway
let token: string
let real: { v1: RealServer; v2: RealServer }
const ends: Array<() => unknown> = []

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'tollgate-servers-')))
  ends.push(() => rm(folder, { recursive: true, force: true }))
  docs = join(folder, 'docs')
  await mkdir(docs)
  await writeFile(join(docs, 'welcome.txt'), 'Good fences make good neighbours.\n')
  real = { v1: await v1Server(), v2: await v2Server() }
  ends.push(real.v1.stop, real.v2.stop)
  const tools = { '*': 'read' }
  const everything = programOf('server-everything')
  gateway = await startGateway({
    v1: { type: 'http', url: real.v1.url, tools },
    v2: { type: 'http', url: real.v2.url, tools },
    web: { type: 'http', url: await serveEverything(everything), tools },
    pipe: { command: process.execPath, args: [everything, 'stdio'], tools },
    files: { command: process.execPath, args: [programOf('server-filesystem'), docs], tools: { 'read_*': 'read' } },
  })
  ends.push(gateway.close)
  await gateway.running.settled(20_000)
  token = await gateway.token({ role: 'person-chat', approval: { channel: 'inbox' } })
})
afterAll(async () => {
  for (const end of ends.reverse()) await end()
})

async function serveEverything(program: string): Promise<string> {
  const port = await freePort()
  const env = { PATH: process.env.PATH, PORT: String(port) }
  const child = spawn(process.execPath, [program, 'streamableHttp'], { env, cwd: folder, stdio: 'ignore' })
  ends.push(() => child.kill('SIGKILL'))
  const url = `http://127.0.0.1:${port}/mcp`
  await until('server-everything listens', () => fetch(url).then(Boolean, () => false), 20_000)
  return url
}

async function connect(kind: Kind, options?: ConnectOptions): Promise<TestClient> {
  const client = await kind.connect(gateway.mcpUrl, token, options)
  onTestFinished(() => client.close())
  return client
}

const namesOf = async (client: TestClient, slug: string): Promise<string[]> =>
  (await client.list()).map(({ name }) => name as string).filter((name) => name.startsWith(`${slug}__`))

const stateOf = async (slug: string): Promise<string> => {
  const { body } = await gateway.api('GET', '/v1/connectors')
  return body.items.find((item: { slug: string }) => item.slug === slug).state
}

test('all five are ready', async () => {
  for (const slug of ['v1', 'v2', 'web', 'pipe', 'files']) expect([slug, await stateOf(slug)]).toEqual([slug, 'ready'])
})

const CLIENTS = [sdkV1, sdkV2Auto]
const PAIRS = (['v1', 'v2'] as const).flatMap((slug) => CLIENTS.map((kind) => ({ slug, kind, client: kind.name })))

describe.each(PAIRS)('a server on the SDK $slug, through $client', ({ slug, kind }) => {
  test('lists its tools with schemas and annotations as they are', async () => {
    const listed = (await (await connect(kind)).list()).filter(({ name }) => name.startsWith(`${slug}__`))
    const own = (name: string) => listed.find((entry) => entry.name === `${slug}__${name}`)
    expect(listed.map(({ name }) => name)).toEqual(
      ['ask', 'greet', 'media', 'steps', 'weather'].map((name) => `${slug}__${name}`),
    )
    expect(own('greet').inputSchema).toMatchObject({ type: 'object', required: ['name'] })
    expect(own('greet').annotations).toEqual({ readOnlyHint: true })
    expect(own('weather').outputSchema).toMatchObject({ type: 'object', required: ['celsius', 'sky'] })
  })

  test('answers calls, and refuses bad arguments in its own words', async () => {
    const client = await connect(kind)
    expect(textOf(await client.call(`${slug}__greet`, { name: 'Ada' }))).toBe('Hello, Ada!')
    const refused = await client.call(`${slug}__greet`, { name: 7 }).then(
      (result) => [result.isError, textOf(result)],
      (problem: Error) => [true, problem.message],
    )
    expect(refused).toEqual([true, expect.stringMatching(/expected string/i)])
  })

  test('structured content, pictures and resource links come through whole', async () => {
    const client = await connect(kind)
    const weather = await client.call(`${slug}__weather`)
    expect([weather.structuredContent, JSON.parse(textOf(weather))]).toEqual([WEATHER, WEATHER])
    expect((await client.call(`${slug}__media`)).content).toEqual([IMAGE, LINK])
  })

  test('reports progress', async () => {
    const heard: number[] = []
    const client = await connect(kind)
    const result = await client.call(`${slug}__steps`, {}, { onProgress: ({ progress }) => heard.push(progress) })
    expect([textOf(result), heard]).toEqual(['stepped', [1, 2, 3]])
  })

  test('asks the person at the client’s end, who sees its name and whose answer it gets', async () => {
    const asked: string[] = []
    const client = await connect(kind, {
      onAsk: ({ message }) => {
        asked.push(message)
        return { action: 'accept', content: { colour: 'green' } }
      },
    })
    const result = await client.call(`${slug}__ask`)
    expect(JSON.parse(textOf(result))).toEqual({ action: 'accept', content: { colour: 'green' } })
    expect(asked).toEqual([`[${slug}] Which colour?`])
    const declining = await connect(kind, { onAsk: () => ({ action: 'decline' }) })
    expect(JSON.parse(textOf(await declining.call(`${slug}__ask`)))).toEqual({ action: 'decline', content: null })
  })

  test('that asks a client without a person gets no answer, and the call ends', async () => {
    const client = await connect(kind)
    const ended = await client.call(`${slug}__ask`).then(
      (result) => result.isError === true || JSON.parse(textOf(result)).action !== 'accept',
      () => true,
    )
    expect(ended).toBe(true)
  })

  test('is used again after a restart, and no call ran twice', async () => {
    const server = real[slug]
    const client = await connect(kind)
    await client.call(`${slug}__greet`, { name: 'before' })
    await server.stop()
    const greeted = (name: string): Promise<string> =>
      client.call(`${slug}__greet`, { name }).then(textOf, (problem: Error) => problem.message)
    // Until it is noticed the call fails; from then on the tools are withheld.
    expect(await greeted('away')).toMatch(/^(upstream_unavailable|outcome_unknown): |Unknown tool/)
    await server.start()
    const before = server.ran.length
    await until('it answers again', async () => (await greeted('after')) === 'Hello, after!', 20_000)
    expect(server.ran.length).toBe(before + 1)
    await until('its tools are listed', async () => (await namesOf(client, slug)).length === 5, 20_000)
  })
})

describe.each([
  { slug: 'web', over: 'streamable HTTP' },
  { slug: 'pipe', over: 'stdio' },
])('server-everything over $over', ({ slug }) => {
  test.each(CLIENTS)('answers what it offers through $name', async (kind) => {
    const client = await connect(kind)
    expect(await namesOf(client, slug)).toEqual(
      expect.arrayContaining(['echo', 'get-sum', 'get-tiny-image'].map((name) => `${slug}__${name}`)),
    )
    expect(textOf(await client.call(`${slug}__echo`, { message: 'hi' }))).toBe('Echo: hi')
    const weather = await client.call(`${slug}__get-structured-content`, { location: 'Chicago' })
    expect(weather.structuredContent).toEqual({ temperature: 36, conditions: 'Light rain / drizzle', humidity: 82 })
    const kinds = async (name: string, args = {}) =>
      (await client.call(`${slug}__${name}`, args)).content.map(({ type }: { type: string }) => type)
    expect(await kinds('get-tiny-image')).toEqual(['text', 'image', 'text'])
    expect(await kinds('get-resource-links', { count: 2 })).toEqual(['text', 'resource_link', 'resource_link'])
    expect(await kinds('get-resource-reference', { resourceType: 'Text', resourceId: 1 })).toContain('resource')
    const heard: number[] = []
    const onProgress = ({ progress }: { progress: number }) => heard.push(progress)
    await client.call(`${slug}__trigger-long-running-operation`, { duration: 0.4, steps: 4 }, { onProgress })
    expect(heard).toEqual([1, 2, 3, 4])
  })
})

test('server-everything sees none of the gateway’s environment', async () => {
  const client = await connect(sdkV2Auto)
  const seen = Object.keys(JSON.parse(textOf(await client.call('pipe__get-env'))))
  expect(seen.filter((name) => /TOLLGATE|DATABASE|VITEST|SECRET|KEY/.test(name))).toEqual([])
})

test('server-everything offers its questions over HTTP to a client that can be asked, and gets the answer', async () => {
  const asked: string[] = []
  const client = await connect(sdkV1, {
    onAsk: ({ message }) => {
      asked.push(message)
      return { action: 'accept', content: { name: 'Ada Lovelace' } }
    },
  })
  expect(await namesOf(client, 'web')).toContain('web__trigger-elicitation-request')
  const result = await client.call('web__trigger-elicitation-request')
  expect(textOf(result)).toContain('- Name: Ada Lovelace')
  expect(asked).toEqual(['[web] Please provide inputs for the following fields:'])
})

describe('server-filesystem over stdio', () => {
  test.each(CLIENTS)('reads through $name, and writes only when a person agrees', async (kind) => {
    const client = await connect(kind)
    const path = join(docs, `${kind.era}.txt`)
    const read = await client.call('files__read_text_file', { path: join(docs, 'welcome.txt') })
    expect(textOf(read)).toBe('Good fences make good neighbours.\n')
    const held = client.call('files__write_file', { path, content: 'agreed' })
    let card: { id: string } | undefined
    await until('a card is pending', async () => {
      card = (await gateway.api('GET', '/v1/approvals?status=pending')).body.items[0]
      return card
    })
    await expect(readFile(path)).rejects.toThrow(/ENOENT/)
    await gateway.api('POST', `/v1/approvals/${card?.id}/approve`, {})
    expect((await held).isError).toBeFalsy()
    expect(await readFile(path, 'utf8')).toBe('agreed')
    const outside = await client.call('files__read_text_file', { path: '/etc/hostname' })
    expect([outside.isError, textOf(outside)]).toEqual([true, expect.stringMatching(/Access denied/)])
  })
})
