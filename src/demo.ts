/**
 * `tollgate demo`: the whole story with real parts. Two upstreams from npm that nobody here wrote, two sessions with
 * different roles, a read, a refusal, a call that waits for a person and then happens once, and the record of it all.
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { access, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { type Running, serve } from './main.ts'
import { VERSION } from './version.ts'

const STEPS = 9

/** Runs the demo and prints it; answers the exit code: 0 only if every step held. */
export async function runDemo(env: NodeJS.ProcessEnv): Promise<number> {
  const started = performance.now()
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'tollgate-demo-')))
  const open: Array<() => Promise<unknown>> = [() => rm(folder, { recursive: true, force: true })]
  const story = createStory()
  try {
    await tell(story, env, folder, open)
    story.line('')
    story.line(`All ${STEPS} steps held, in ${((performance.now() - started) / 1000).toFixed(1)} s.`)
    story.line('Next: npm start, then point a client at it (README, "Point a client at it").')
    return 0
  } catch (problem) {
    story.line(`  FAILED: ${problem instanceof Error ? problem.message : String(problem)}`)
    return 1
  } finally {
    for (const close of open.reverse()) await close().catch(() => {})
  }
}

type Story = ReturnType<typeof createStory>

function createStory() {
  let step = 0
  const line = (text: string): void => void process.stdout.write(`${text}\n`)
  return {
    line,
    step: (title: string): void => line(`\n[${++step}/${STEPS}] ${title}`),
    /** A thing that must hold; the demo ends where one does not. */
    holds(what: string, held: boolean, seen?: unknown): void {
      if (held !== true) throw new Error(`${what}${seen === undefined ? '' : `; seen: ${JSON.stringify(seen)}`}`)
      line(`  ok  ${what}`)
    },
  }
}

async function tell(story: Story, env: NodeJS.ProcessEnv, folder: string, open: Array<() => Promise<unknown>>) {
  story.step('Two upstreams from npm: one over stdio, one over streamable HTTP')
  const docs = join(folder, 'docs')
  await mkdir(docs)
  await writeFile(join(docs, 'welcome.txt'), 'Good fences make good neighbours.\n')
  const everything = await startEverything(folder)
  open.push(everything.close)
  const configFile = join(folder, 'tollgate.json')
  await writeFile(configFile, JSON.stringify(configFor(docs, everything.url), undefined, 2))
  story.line(`  files       @modelcontextprotocol/server-filesystem, a child process, over ${docs}`)
  story.line(`  everything  @modelcontextprotocol/server-everything, at ${everything.url}`)

  story.step('The gateway, on an embedded database')
  const running = await serve({
    ...env,
    PORT: String(await freePort()),
    HOST: '127.0.0.1',
    TOLLGATE_PUBLIC_URL: '',
    DATABASE_URL: '',
    TOLLGATE_DATA: join(folder, 'data'),
    TOLLGATE_CONFIG: configFile,
    TOLLGATE_LOG: 'error',
  })
  open.push(running.close)
  await running.settled(15_000)
  const rest = createRest(running)
  const { items } = await rest<{ items: Array<{ slug: string; state: string; tools: unknown[] }> }>(
    'GET',
    '/v1/connectors',
  )
  for (const { slug, state, tools } of items) story.line(`  ${slug.padEnd(11)} ${state}, ${tools.length} tools`)
  story.holds('both upstreams are ready', items.length === 2 && items.every(({ state }) => state === 'ready'), items)

  story.step('Two session tokens, issued over REST')
  const person = await rest<Issued>('POST', '/v1/sessions', { role: 'person-chat', approval: { channel: 'inbox' } })
  const specialist = await rest<Issued>('POST', '/v1/sessions', {
    role: 'specialist',
    tools: ['Read'],
    grant: { connectors: ['files'] },
  })
  story.line(`  person-chat  ${person.tools.length} tools, and a person to ask`)
  story.line(`  specialist   ${specialist.tools.length} tools: the granted connector's reads, and no one to ask`)

  story.step('The same endpoint, listed as each')
  const asPerson = await connectClient(running, person.token)
  const asSpecialist = await connectClient(running, specialist.token)
  open.push(
    () => asPerson.close(),
    () => asSpecialist.close(),
  )
  const personSees = (await asPerson.listTools()).tools.map(({ name }) => name)
  const specialistSees = (await asSpecialist.listTools()).tools.map(({ name }) => name)
  story.line(`  person-chat  ${personSees.slice(0, 4).join(', ')}, … (${personSees.length})`)
  story.line(`  specialist   ${specialistSees.slice(0, 4).join(', ')}, … (${specialistSees.length})`)
  const narrower = specialistSees.every((name) => personSees.includes(name))
  story.holds(
    'the lists differ, and the narrow one lies within the wide one',
    narrower && specialistSees.length < personSees.length,
  )

  story.step('A read')
  const read = await asSpecialist.callTool({
    name: 'files__read_text_file',
    arguments: { path: join(docs, 'welcome.txt') },
  })
  story.line(`  specialist calls files__read_text_file: ${JSON.stringify(textOf(read).trim())}`)
  story.holds('the file came back', textOf(read).includes('good neighbours'), read)

  story.step('A name outside the ceiling')
  const refusal = await asSpecialist
    .callTool({ name: 'files__write_file', arguments: { path: join(docs, 'no.txt'), content: 'no' } })
    .then(textOf, (problem: Error) => problem.message)
  story.line(`  specialist calls files__write_file: ${refusal}`)
  story.holds('it is refused in the words for a tool that does not exist', refusal.includes('Unknown tool'), refusal)
  story.holds('nothing was written', !(await exists(join(docs, 'no.txt'))))

  story.step('A write waits for a person')
  const note = join(docs, 'note.txt')
  const held = asPerson.callTool({ name: 'files__write_file', arguments: { path: note, content: 'Approved once.\n' } })
  held.catch(() => {})
  const card = await waitForCard(rest)
  story.line(`  person-chat calls files__write_file, and the call is held`)
  story.line(`  card ${card.id}: ${card.summary}`)
  story.holds('nothing is written while it waits', !(await exists(note)))

  story.step('A person approves, and it happens once')
  await rest('POST', `/v1/approvals/${card.id}/approve`, { note: 'fine' })
  const done = await held
  story.line(`  the held call returns: ${JSON.stringify(textOf(done).trim())}`)
  story.holds('the file is there', (await readFile(note, 'utf8')) === 'Approved once.\n')
  const again = await fetch(`${running.url}/v1/approvals/${card.id}/approve`, {
    method: 'POST',
    ...withKey(running),
    body: '{}',
  })
  story.holds('a second approval is refused', again.status === 409, again.status)

  story.step('The record')
  const { items: rows } = await rest<{ items: Row[] }>('GET', '/v1/audit?limit=50')
  for (const row of rows.reverse().filter(({ kind }) => kind !== 'session.issued')) {
    const what = [row.kind.padEnd(13), (row.tool ?? '').padEnd(28), row.code ?? '', row.outcome ?? '', row.by ?? '']
    story.line(`  ${row.at.slice(11, 19)}  ${what.join(' ').trimEnd()}`)
  }
  const verified = await rest<{ problems: unknown[]; rows: number }>('GET', '/v1/audit/verify')
  story.holds(`the chain over ${verified.rows} rows is whole`, verified.problems.length === 0, verified.problems)
}

interface Issued {
  readonly token: string
  readonly tools: readonly unknown[]
}
interface Row {
  readonly at: string
  readonly kind: string
  readonly tool?: string
  readonly code?: string
  readonly outcome?: string
  readonly by?: string
}

function configFor(docs: string, everythingUrl: string) {
  const read = { access: 'read', grantable: true }
  return {
    mcpServers: {
      files: {
        command: process.execPath,
        args: [binOf('@modelcontextprotocol/server-filesystem'), docs],
        tools: { 'read_*': read, 'list_*': read, directory_tree: read, search_files: read, get_file_info: read },
      },
      everything: { type: 'http', url: everythingUrl, tools: { echo: 'read', 'get-*': 'read' } },
    },
  }
}

/** The program file of a package from npm. */
function binOf(name: string): string {
  return createRequire(import.meta.url).resolve(`${name}/dist/index.js`)
}

async function startEverything(folder: string): Promise<{ url: string; close: () => Promise<void> }> {
  const port = await freePort()
  const child: ChildProcess = spawn(
    process.execPath,
    [binOf('@modelcontextprotocol/server-everything'), 'streamableHttp'],
    {
      cwd: folder,
      env: { PATH: process.env.PATH, PORT: String(port) },
      stdio: 'ignore',
    },
  )
  const url = `http://127.0.0.1:${port}/mcp`
  await until('the HTTP upstream answers', 10_000, () => fetch(url, { method: 'GET' }).then(() => true))
  return {
    url,
    close: async () => {
      child.kill('SIGKILL')
    },
  }
}

async function connectClient({ url }: Running, token: string): Promise<Client> {
  const client = new Client({ name: 'tollgate-demo', version: VERSION }, { versionNegotiation: { mode: 'auto' } })
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  })
  await client.connect(transport)
  return client
}

function createRest(running: Running) {
  return async function rest<T>(method: string, path: string, body?: unknown): Promise<T> {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(`${running.url}${path}`, { method, ...withKey(running), ...sent })
    const answer = (await response.json()) as T
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${JSON.stringify(answer)}`)
    return answer
  }
}

const withKey = ({ config }: Running) => ({
  headers: { authorization: `Bearer ${config.adminKey.value}`, 'content-type': 'application/json' },
})

async function waitForCard(rest: ReturnType<typeof createRest>): Promise<{ id: string; summary: string }> {
  let found: { id: string; summary: string } | undefined
  await until('a card appears', 10_000, async () => {
    found = (await rest<{ items: Array<{ id: string; summary: string }> }>('GET', '/v1/approvals?status=pending'))
      .items[0]
    return found !== undefined
  })
  return found as { id: string; summary: string }
}

async function until(what: string, ms: number, check: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + ms
  for (;;) {
    if (await check().catch(() => false)) return
    if (performance.now() > end) throw new Error(`Waited ${ms} ms in vain: ${what}.`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const textOf = (result: unknown): string =>
  ((result as { content?: Array<{ text?: string }> }).content ?? []).map(({ text }) => text ?? '').join('\n')

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.on('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
}
