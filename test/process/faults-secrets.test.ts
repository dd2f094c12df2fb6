/** Secrets that pass through the gateway, or that it holds, are found nowhere afterwards (reliability J3). */
import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { barePostgres } from '../support/database.ts'
import { ADMIN_KEY, eventually, type Replica, SECRET, startReplica } from '../support/replica.ts'
import { type Behaviour, startUpstream, type Upstream } from '../support/upstream.ts'

/** Told apart by name; bytes that look different in base64 and in a URL. */
const made = (name: string): string =>
  `cnry-${name}-${randomBytes(9).toString('hex')}/+${randomBytes(4).toString('hex')}`
const secrets = {
  configuredHeader: made('cfg'),
  configuredQuery: randomBytes(16).toString('hex'),
  childEnvironment: made('env'),
  cookie: made('cookie'),
  apiKeyHeader: made('hdr'),
  basicAuth: made('basic'),
  pathQuery: randomBytes(16).toString('hex'),
  passwordArgument: made('pass'),
  nestedArgument: made('nested'),
  keyShapedArgument: `sk-${randomBytes(20).toString('hex')}`,
  urlArgument: randomBytes(16).toString('hex'),
  upstreamError: made('uperr'),
  upstreamBody: made('upbody'),
  upstreamResult: made('upres'),
  note: made('note'),
}

/** An upstream that tells its own secrets in every way it can. */
const tells: Record<string, Behaviour> = {
  leak_error: (call) => call.error(-32000, `login failed: password=${secrets.upstreamError}`),
  leak_500: (call) =>
    call.raw(
      500,
      'text/plain',
      `Authorization: Bearer ${secrets.configuredHeader} was refused, token=${secrets.upstreamBody}`,
    ),
  leak_401: (call) => call.raw(401, 'application/json', JSON.stringify({ access_token: secrets.upstreamBody })),
  leak_html: (call) => call.raw(200, 'text/html', `<p>secret=${secrets.upstreamBody}</p>`),
  leak_broken: (call) => call.raw(200, 'application/json', `{"apiKey":"${secrets.upstreamBody}"`),
  leak_result: (call) => call.text(`token=${secrets.upstreamResult}`),
  leak_write: (call) => call.text(`done with password=${secrets.upstreamResult}`),
}

let upstream: Upstream
let database: { url: string; close(): Promise<void> }
let sql: postgres.Sql
let gateway: Replica

beforeAll(async () => {
  upstream = await startUpstream({ behaviours: tells, path: `/mcp?api_key=${secrets.configuredQuery}` })
  database = await barePostgres()
  sql = postgres(database.url, { max: 1, onnotice: () => {} })
  const tools = { '*': 'read', leak_write: 'write', increment: 'write' }
  const chatty = 'console.error("starting with API_TOKEN=" + process.env.API_TOKEN); process.exit(3)'
  const mcpServers = {
    up: { type: 'http', url: upstream.url, headers: { Authorization: `Bearer ${secrets.configuredHeader}` }, tools },
    gone: { type: 'http', url: `http://127.0.0.1:9/mcp?token=${secrets.configuredQuery}`, tools },
    child: { command: process.execPath, args: ['-e', chatty], env: { API_TOKEN: secrets.childEnvironment }, tools },
  }
  const env = { TOLLGATE_LOG: 'trace', TOLLGATE_APPROVAL_WAIT_MS: '500' }
  gateway = await startReplica({ databaseUrl: database.url, mcpServers, env, settle: false })
  const ready = ({ body }: any) => body?.items.some(({ slug, state }: any) => slug === 'up' && state === 'ready')
  await eventually(() => gateway.api('GET', '/v1/connectors'), ready, 30_000)
}, 120_000)
afterAll(async () => {
  await gateway?.close()
  await upstream?.close()
  await sql?.end()
  await database?.close()
})

test(`of ${Object.keys(secrets).length + 5} secrets none is in a log, a row, a metric, an error or a card`, async () => {
  const session = await gateway.issue()
  const headers = {
    cookie: `session=${secrets.cookie}`,
    'x-api-key': secrets.apiKeyHeader,
    'proxy-authorization': `Basic ${Buffer.from(`me:${secrets.basicAuth}`).toString('base64')}`,
  }
  const path = `/mcp?token=${secrets.pathQuery}`
  const args = {
    password: secrets.passwordArgument,
    deep: [{ 'client-secret': secrets.nestedArgument }],
    text: `use ${secrets.keyShapedArgument} for it`,
    url: `https://me:${secrets.urlArgument}@example.com/?api_key=${secrets.urlArgument}`,
  }
  /** What the gateway said of its own accord: everything but what upstreams answered. */
  const said: string[] = []
  const names = Object.keys(tells).map((name) => `up__${name}`)
  const tools = [
    ...names,
    'up__echo',
    'up__reset',
    'up__torn',
    'up__failing',
    'up__nothing',
    'gone__echo',
    'child__echo',
  ]
  let calls = 0
  for (let round = 0; round < 4; round++) {
    for (const name of tools) {
      const ask = round % 2 ? gateway.modern : gateway.rpc
      const sent = { ...args, round }
      const answer = await ask(session.token, 'tools/call', { name, arguments: sent }, { headers, path })
      calls++
      if (!['up__leak_error', 'up__leak_result', 'up__echo'].includes(name)) said.push(answer.text)
    }
  }
  expect(calls).toBeGreaterThanOrEqual(50)

  // Tokens that are no good, and bodies that are none.
  const forged = `${session.token.slice(0, -10)}${randomBytes(5).toString('hex')}`
  for (const token of [forged, `${secrets.passwordArgument}`, 'a.b.c']) {
    said.push((await gateway.call(token, 'up__echo', args, { headers, path })).text)
    said.push((await gateway.modern(token, 'tools/list', {}, { headers, path })).text)
  }
  for (const body of [`{"password":"${secrets.passwordArgument}"`, `["${secrets.keyShapedArgument}"]`]) {
    const auth = { authorization: `Bearer ${session.token}`, 'content-type': 'application/json' }
    said.push(
      await (await fetch(`${gateway.url}${path}`, { method: 'POST', headers: { ...auth, ...headers }, body })).text(),
    )
  }
  for (const bad of [
    { password: secrets.passwordArgument },
    { role: 'person-chat', tools: 7, token: secrets.nestedArgument },
  ]) {
    said.push((await gateway.api('POST', '/v1/sessions', bad)).text)
  }

  // Cards: one approved with a note that should not hold a secret, one denied.
  const cards = (await gateway.api('GET', `/v1/approvals?sessionId=${session.id}`)).body.items
  expect(cards.length).toBeGreaterThanOrEqual(4)
  const note = { note: `the password: ${secrets.note}` }
  for (const [n, { id }] of cards.entries()) {
    said.push((await gateway.api('POST', `/v1/approvals/${id}/${n % 2 ? 'approve' : 'deny'}`, note)).text)
  }
  await eventually(
    () => gateway.api('GET', `/v1/approvals?sessionId=${session.id}`),
    ({ body }) => body.items.every(({ status }: { status: string }) => ['done', 'denied'].includes(status)),
  )
  for (const path of [
    '/v1/approvals',
    '/v1/connectors',
    '/v1/sessions',
    `/v1/sessions/${session.id}`,
    '/v1/audit?limit=200',
  ]) {
    said.push((await gateway.api('GET', path)).text)
  }
  said.push((await gateway.rpc(session.token, 'tools/list')).text)
  said.push((await gateway.api('GET', '/metrics')).text, (await gateway.api('GET', '/readyz')).text)

  const kept: string[] = []
  const tables = await sql`select table_name as name from information_schema.tables where table_schema = 'public'`
  expect(tables.length).toBeGreaterThanOrEqual(4)
  for (const { name } of tables) {
    const rows = await sql.unsafe(`select t::text as text from "${name}" t`)
    kept.push(...rows.map(({ text }) => text))
  }
  expect(await gateway.end('SIGTERM')).toBe(0)
  const places = { output: gateway.output(), rows: kept.join('\n'), answers: said.join('\n') }
  expect(places.output.split('\n').length).toBeGreaterThan(5)
  // The secrets were there to be found: the child and the upstream told them, and were heard.
  expect(places.output).toContain('starting with API_TOKEN=[redacted]')
  expect(places.rows).toContain('[redacted]')
  expect(places.answers).toContain('[redacted]')

  const [, payload, signature] = session.token.split('.')
  const own = { admin: ADMIN_KEY, sealing: SECRET, database: new URL(database.url).password, payload, signature }
  const found = Object.entries({ ...secrets, ...own }).flatMap(([name, secret]) =>
    Object.entries(places).flatMap(([place, text]) =>
      formsOf(secret!)
        .filter((form) => text.includes(form))
        .map((form) => `${name} in ${place}: …${around(text, form)}…`),
    ),
  )
  expect(found).toEqual([])

  // And nothing of the caller's but its arguments went upstream.
  const { cookie, apiKeyHeader, basicAuth, pathQuery } = secrets
  const sent = upstream.requests.map(({ rawHeaders, path, body }) => [...rawHeaders, path, body].join('\n')).join('\n')
  expect(sent).toContain(secrets.configuredHeader)
  for (const secret of [cookie, apiKeyHeader, basicAuth, pathQuery, ...Object.values(own)]) {
    for (const form of formsOf(secret!)) expect(sent.includes(form), form).toBe(false)
  }
}, 120_000)

/** A secret as it is, in a URL, in JSON inside JSON, and in base64 at each of its three alignments. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const base64 = [0, 1, 2].flatMap((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    // The characters at both ends depend on the neighbours.
    const inner = text.slice(Math.ceil((shift * 8) / 6) + 1, -2)
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')]
  })
  return [...new Set([secret, encodeURIComponent(secret), secret.replaceAll('/', '\\/'), ...base64])]
}

const around = (text: string, form: string): string => {
  const at = text.indexOf(form)
  return text.slice(Math.max(0, at - 150), at + form.length + 60)
}
