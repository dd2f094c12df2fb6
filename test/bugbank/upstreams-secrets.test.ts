/** Bug bank, groups 13 and 14, on a gateway that is a process of its own: noise, secrets in all it writes, and its end. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callText } from '../support/bank.ts'
import { ADMIN_KEY, ERAS, freePort, type Gateway } from '../support/gateway.ts'
import { alive } from '../support/stdio-world.ts'
import { type Behaviour, startUpstream, type Upstream } from '../support/upstream.ts'

const ROOT = join(import.meta.dirname, '../..')
const STDIO = join(import.meta.dirname, '../support/stdio-upstream.mjs')
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const read = { tools: { '*': 'read' } }

let folder: string
let http: Upstream

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-secrets-'))
  const leak: Behaviour = ({ args, raw }) => {
    const { apiKey } = args
    raw(500, 'text/plain', `Authorization: Bearer ${apiKey}\nhttps://u:${apiKey}@h/?api_key=${apiKey}`)
  }
  http = await startUpstream({ behaviours: { leak, write: (call) => call.text('wrote') } })
})

afterAll(async () => {
  await http?.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('secrets, in a gateway that is a process of its own', () => {
  const CANARY = 'canary7f3a9c21d4e8'
  const KEYS = [
    'password',
    'apiKey',
    'API_KEY',
    'x-api-key',
    'Authorization',
    'access_token',
    'clientSecret',
    'cookie',
    'private_key',
    'credentials',
  ]
  const arguments_ = {
    ...Object.fromEntries(KEYS.map((key) => [key, CANARY])),
    nested: { deep: [{ refreshToken: CANARY }, { name: 'Authorization', value: `Bearer ${CANARY}` }] },
    list: [`--token=${CANARY}`, `password: ${CANARY}`],
    url: `https://user:${CANARY}@example.com/?api_key=${CANARY}&x=1`,
    text: `use {"secret":"${CANARY}"} please`,
  }
  let child: ChildProcess
  let output = ''
  let gateway: Pick<Gateway, 'url'>
  let pid: number
  const ledger = () => join(folder, 'noisy-ledger')

  beforeAll(async () => {
    const port = await freePort()
    const config = join(folder, 'config.json')
    const noise = `echo "boot: password=$KEY and Authorization: Bearer ${CANARY}" >&2; echo "$KEY" >&2; exec "$0" "$@"`
    const flags = ['--banner', '--blank', '--half', '--garbage', '--long-line', '--ledger', ledger()]
    const noisy = {
      command: '/bin/sh',
      args: ['-c', noise, process.execPath, STDIO, ...flags],
      env: { KEY: CANARY },
      ...read,
    }
    const web = { type: 'http', url: http.url, headers: { 'x-key': CANARY }, tools: { '*': 'read', write: 'write' } }
    const dying = {
      command: process.execPath,
      args: ['-e', `console.error('token: ${CANARY}'); throw new Error('api_key=${CANARY}')`],
    }
    writeFileSync(config, JSON.stringify({ mcpServers: { noisy, web, dying } }))
    child = spawn(process.execPath, [join(ROOT, 'src/cli.ts'), 'serve'], {
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        PORT: String(port),
        TOLLGATE_DATA: join(folder, 'child'),
        TOLLGATE_CONFIG: config,
        TOLLGATE_ADMIN_KEY: ADMIN_KEY,
        TOLLGATE_LOG: 'trace',
        TOLLGATE_APPROVAL_WAIT_MS: '200',
      },
    })
    child.stdout?.on('data', (bytes) => (output += bytes))
    child.stderr?.on('data', (bytes) => (output += bytes))
    gateway = { url: `http://127.0.0.1:${port}` }
    for (const end = Date.now() + 40_000; Date.now() < end && !output.includes('MCP endpoint'); ) await pause(100)
    const events = () => readFileSync(ledger(), 'utf8')
    for (const end = Date.now() + 10_000; Date.now() < end; await pause(100)) {
      const noisy = (await rest('GET', '/v1/connectors')).items.find((row: any) => row.slug === 'noisy')
      if (noisy.state === 'ready') break
    }
    pid = JSON.parse(events().split('\n').filter(Boolean).at(-1) as string).pid
  })
  afterAll(() => child?.kill('SIGKILL'))

  const restText = async (method: string, path: string, body?: object): Promise<string> => {
    const headers = { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' }
    return (
      await fetch(`${gateway.url}${path}`, {
        method,
        headers: body ? headers : { authorization: headers.authorization },
        ...(body && { body: JSON.stringify(body) }),
      })
    ).text()
  }
  const rest = async (method: string, path: string, body?: object): Promise<any> =>
    JSON.parse(await restText(method, path, body))

  test('anomalyco/opencode#24414: banner, blank, half and very long lines on stdout do no harm, and are logged by name', async () => {
    const { token } = await rest('POST', '/v1/sessions', { role: 'person-chat' })
    const { answer } = await callText(gateway as Gateway, 'modern', token, 'noisy__noise', '{}')
    expect(answer.result.content[0].text).toBe('after noise')
    expect(output).toMatch(/"upstream":"noisy"[^\n]*Welcome to the scripted server/)
  })

  test('github/gh-aw#50772: a canary is in no log, record, card, metric or error', async () => {
    const seen: string[] = []
    const { token } = await rest('POST', '/v1/sessions', { role: 'person-chat', approval: { channel: 'inbox' } })
    for (const era of ERAS) {
      const call = (name: string, args: object) =>
        callText(gateway as Gateway, era, token, name, JSON.stringify({ ...args, era }))
      const parked = await call('web__write', arguments_)
      const { id } = parked.answer.result._meta['dev.tollgate/decision'].card
      seen.push(parked.text, await restText('GET', `/v1/approvals/${id}`))
      await restText('POST', `/v1/approvals/${id}/approve`, { note: `the password: ${CANARY}` })
      for (const name of ['web__leak', 'web__reset', 'web__torn', 'noisy__garbled', `web__no_${era}`]) {
        const failing = await call(name, arguments_)
        expect(failing.answer.error ?? failing.answer.result.isError).toBeTruthy()
        seen.push(failing.text)
      }
      await call('web__echo', arguments_)
      await callText(gateway as Gateway, era, `${token}x`, 'web__echo', JSON.stringify(arguments_))
      seen.push((await callText(gateway as Gateway, era, token, 'web__echo', `{"password":"${CANARY}",}`)).text)
    }
    await rest('POST', '/v1/explain', {
      session: (await rest('GET', '/v1/sessions?limit=1')).items[0].id,
      tool: 'mcp__web__write',
      arguments: arguments_,
    })
    await pause(600)
    expect(
      http.ledger.filter(({ tool, argumentsText }) => tool === 'write' && argumentsText?.includes(CANARY)),
    ).toHaveLength(2)
    for (const path of [
      '/v1/audit?limit=200',
      '/v1/approvals?limit=50',
      '/v1/connectors',
      '/v1/sessions?limit=50',
      '/metrics',
      '/readyz',
    ]) {
      seen.push(await restText('GET', path))
    }
    const lines = [output, ...seen].flatMap((text) => text.split('\n'))
    expect(lines.filter((line) => line.includes(CANARY)).map((line) => line.slice(0, 500))).toEqual([])
    expect(seen.join()).toContain('[redacted]')
    expect(output).toContain('[redacted]')
  })

  test('adamw7/tools#628: a failure tells the caller no path, stack or address of the gateway’s', async () => {
    const { token } = await rest('POST', '/v1/sessions', { role: 'person-chat' })
    for (const name of ['web__reset', 'web__torn', 'noisy__garbled', 'web__hang_not_there']) {
      const { text } = await callText(gateway as Gateway, 'legacy', token, name, '{}')
      expect(text).not.toMatch(/\/work|node_modules|\.ts:|\bat \w+ \(|127\.0\.0\.1:|select |insert /i)
    }
  })

  test('metatool-ai/metamcp#162: no child outlives a gateway that was killed', async () => {
    expect(alive(pid)).toBe(true)
    child.kill('SIGKILL')
    await expect.poll(() => alive(pid), { timeout: 6_000 }).toBe(false)
  })
})
