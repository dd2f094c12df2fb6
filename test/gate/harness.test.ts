/** A harness asks before it runs a built-in of its own: over the permission prompt, and over the PreToolUse hook. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { startUpstream, tool, type Upstream } from '../support/upstream.ts'

const PROMPT = 'harness__permission_prompt'

/** Says "pending" soon. */
let gateway: Gateway
/** Waits as long as a test may take. */
let patient: Gateway
let upstream: Upstream

beforeAll(async () => {
  upstream = await startUpstream({ tools: [tool('echo'), tool('increment')] })
  const servers = { box: { type: 'http', url: upstream.url, tools: { echo: 'read' } } }
  gateway = await startGateway(servers, { TOLLGATE_APPROVAL_WAIT_MS: '200' })
  patient = await startGateway(servers, { TOLLGATE_APPROVAL_WAIT_MS: '60000' })
  await Promise.all([gateway.running.settled(10_000), patient.running.settled(10_000)])
})
afterAll(async () => {
  await gateway?.close()
  await patient?.close()
  await upstream?.close()
})

interface Decision {
  readonly allow: boolean
  readonly message: string | undefined
  readonly input: unknown
}

/** Asks at one of the two doors; the same question gets the same answer at both. */
type Ask = (token: string, name: unknown, input?: unknown) => Promise<Decision>

const prompt: Ask = async (token, name, input) => {
  const args = { tool_name: name, input, tool_use_id: 'toolu_1' }
  const { answer } = await home(token).modern(token, 'tools/call', { name: PROMPT, arguments: args })
  const { behavior, message, updatedInput } = JSON.parse(answer.result.content[0].text)
  expect(['allow', 'deny']).toContain(behavior)
  return { allow: behavior === 'allow', message, input: updatedInput }
}

async function postHook(token: string, body: string | object, method = 'POST'): Promise<Response> {
  return fetch(`${home(token).url}/v1/hooks/pre-tool-use`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(method === 'POST' && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
}

const payload = (name: unknown, input: unknown) => ({
  session_id: 'a-session-of-the-client',
  transcript_path: '/tmp/t.jsonl',
  cwd: '/tmp',
  permission_mode: 'default',
  hook_event_name: 'PreToolUse',
  tool_name: name,
  tool_input: input,
  tool_use_id: 'toolu_1',
})

async function readHook(response: Response): Promise<Decision> {
  expect(response.status).toBe(200)
  const { hookSpecificOutput: said } = (await response.json()) as any
  expect(said.hookEventName).toBe('PreToolUse')
  expect(['allow', 'deny']).toContain(said.permissionDecision)
  return {
    allow: said.permissionDecision === 'allow',
    message: said.permissionDecisionReason,
    input: said.updatedInput,
  }
}

const hook: Ask = async (token, name, input) => readHook(await postHook(token, payload(name, input)))

const DOORS: ReadonlyArray<readonly [string, Ask]> = [
  ['the permission prompt', prompt],
  ['the hook', hook],
]

const person = (more: object = {}) => gateway.token({ role: 'person-chat', ...more })
const waiters = new Set<string>()
/** A session whose asking waits. */
async function waiter(): Promise<string> {
  const token = await patient.token({ role: 'person-chat' })
  waiters.add(token)
  return token
}
const home = (token: string): Gateway => (waiters.has(token) ? patient : gateway)
const sessionOf = (token: string): string => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()).jti
const cardsOf = async (token: string): Promise<any[]> =>
  (await home(token).api('GET', `/v1/approvals?sessionId=${sessionOf(token)}`)).body.items
/** Decides the one card that is pending, once it is there. */
async function decide(token: string, how: 'approve' | 'deny', body: object = {}): Promise<string> {
  let id = ''
  const pending = async () => (await cardsOf(token)).filter(({ status }) => status === 'pending')
  await expect.poll(async () => (id = (await pending())[0]?.id ?? ''), LONG).not.toBe('')
  expect((await home(token).api('POST', `/v1/approvals/${id}/${how}`, body)).status).toBe(200)
  return id
}
const LONG = { timeout: 15_000 }
const listed = async (token: string): Promise<string[]> =>
  (await gateway.modern(token, 'tools/list')).answer.result.tools.map(({ name }: { name: string }) => name)

describe('the permission prompt is offered', () => {
  test('to a session with built-ins and a person to ask, with the input it takes', async () => {
    const { answer } = await gateway.modern(await person(), 'tools/list')
    const found = answer.result.tools.find(({ name }: { name: string }) => name === PROMPT)
    expect(found.inputSchema.required).toEqual(['tool_name', 'input'])
  })

  test.each([
    ['without built-ins', { role: 'person-chat', tools: ['box/echo'] }],
    ['with nobody to ask', { role: 'person-chat', approval: { channel: 'none' } }],
    ['of a role that has none', { role: 'coworker', tools: ['Read', 'Bash'] }],
  ])('and to no session %s, where its name is unknown', async (_what, request) => {
    const token = await gateway.token(request)
    expect(await listed(token)).not.toContain(PROMPT)
    const { answer } = await gateway.modern(token, 'tools/call', { name: PROMPT, arguments: {} })
    expect(answer.error.message).toContain(`Unknown tool: ${PROMPT}`)
  })

  test('on the read-only route too, where only reads are left to ask about', async () => {
    const token = await person({ route: 'read-only' })
    expect(await listed(token)).toEqual([PROMPT])
    expect((await prompt(token, 'Read', { file_path: '/a' })).allow).toBe(true)
    expect((await prompt(token, 'Bash', { command: 'ls' })).message).toMatch(/"Bash" is no built-in of this session/)
  })

  test('with the flag and the hook’s settings in the issued configuration, and to the model’s list of tools it does not belong', async () => {
    const { body } = await gateway.api('POST', '/v1/sessions', { role: 'person-chat' })
    const { claudeCode, agentSdk } = body.configs
    expect(claudeCode.permissionPrompt.flag).toBe(`--permission-prompt-tool mcp__gateway__${PROMPT}`)
    expect(claudeCode.permissionPrompt.settings.hooks.PreToolUse).toEqual([
      {
        hooks: [
          {
            type: 'http',
            url: `${gateway.url}/v1/hooks/pre-tool-use`,
            headers: { Authorization: `Bearer \${GATEWAY_TOKEN}` },
            allowedEnvVars: ['GATEWAY_TOKEN'],
            timeout: 600,
            onFailure: 'block',
          },
        ],
      },
    ])
    expect(agentSdk.tools).toContain('mcp__gateway__box__echo')
    expect(JSON.stringify(agentSdk)).not.toContain(PROMPT)
    const other = await gateway.api('POST', '/v1/sessions', { role: 'coworker', tools: ['Read'] })
    expect(other.body.configs.claudeCode.permissionPrompt).toBeUndefined()
  })
})

describe.each(DOORS)('%s', (_door, ask) => {
  test('lets a read run at once, with the input as it came', async () => {
    const token = await person()
    const input = { file_path: '/etc/hosts', limit: 12345678901234567890n.toString(), deep: [{ a: null }] }
    expect(await ask(token, 'Read', input)).toMatchObject({ allow: true, input })
    expect(await cardsOf(token)).toEqual([])
  })

  test('parks a write, says so, and lets it run once after a person approved it', async () => {
    const token = await person()
    const input = { command: 'touch /tmp/once', description: 'Once' }
    const first = await ask(token, 'Bash', input)
    expect(first).toMatchObject({ allow: false, message: expect.stringMatching(/^approval_pending: .* did not run/) })
    const [card] = await cardsOf(token)
    expect(card).toMatchObject({
      tool: 'Bash',
      connector: 'harness',
      access: 'write',
      status: 'pending',
      arguments: input,
    })
    expect(first.message).toContain(card.id)

    await decide(token, 'approve')
    // The same input in another order of keys is the same call; what runs is what was approved.
    const second = await ask(token, 'Bash', { description: 'Once', command: 'touch /tmp/once' })
    expect(second).toEqual({ ...second, allow: true, input })
    const done = (await gateway.api('GET', `/v1/approvals/${card.id}`)).body
    expect(done).toMatchObject({ status: 'done', outcome: { code: 'ok', handedTo: 'harness' } })
    expect(done.outcome.detail).toMatch(/the gateway did not run it/)

    expect((await ask(token, 'Bash', input)).message).toMatch(/^approval_pending/)
    expect((await cardsOf(token)).map(({ status }) => status).sort()).toEqual(['done', 'pending'])
  })

  test('answers the call that waits when the approval arrives', async () => {
    const token = await waiter()
    const asking = ask(token, 'Write', { file_path: '/tmp/w', content: 'x' })
    await decide(token, 'approve')
    expect((await asking).allow).toBe(true)
  })

  test('passes on what a person said when they denied', async () => {
    const token = await person()
    await ask(token, 'Edit', { file_path: '/a', old_string: 'a', new_string: 'b' })
    await decide(token, 'deny', { note: 'Not that file.' })
    const refused = await ask(token, 'Edit', { file_path: '/a', old_string: 'a', new_string: 'b' })
    expect(refused).toMatchObject({
      allow: false,
      message: expect.stringMatching(/^approval_denied: .*Not that file\./),
    })
    expect((await ask(token, 'Edit', { file_path: '/a', old_string: 'a', new_string: 'b' })).message).toMatch(
      /_pending/,
    )
  })

  test('gives one approval to one of many who ask together', async () => {
    const token = await waiter()
    const many = Array.from({ length: 6 }, () => ask(token, 'Bash', { command: 'date' }))
    const first = await decide(token, 'approve')
    // The others are now behind a card of their own.
    const second = await decide(token, 'deny')
    expect(second).not.toBe(first)
    expect((await Promise.all(many)).filter(({ allow }) => allow).length).toBe(1)
    expect((await cardsOf(token)).map(({ status }) => status).sort()).toEqual(['denied', 'done'])
  })

  test('leaves an approval to the harness that asked, and to no other session', async () => {
    const [token, other] = [await person(), await person()]
    await ask(token, 'Bash', { command: 'id' })
    await decide(token, 'approve')
    expect((await ask(other, 'Bash', { command: 'id' })).allow).toBe(false)
    // Longer than the gateway leaves the approved call of an upstream to its caller.
    await new Promise((resolve) => setTimeout(resolve, 700))
    expect((await cardsOf(token))[0].status).toBe('approved')
    expect((await ask(token, 'Bash', { command: 'id' })).allow).toBe(true)
  })

  test('refuses a built-in outside the ceiling and one that nobody knows, in the record too', async () => {
    const token = await person({ tools: ['Read', 'box/echo'] })
    for (const name of ['Bash', 'NotebookEdit', 'bash', 'Read ', '__proto__']) {
      expect(await ask(token, name, {})).toMatchObject({
        allow: false,
        message: expect.stringMatching(/^unknown_tool/),
      })
    }
    const deniedNames = async (): Promise<string[]> => {
      const { body } = await gateway.api('GET', `/v1/audit?sessionId=${sessionOf(token)}&limit=50`)
      return body.items
        .filter(({ rules }: { rules?: string[] }) => rules?.includes('permission_denied'))
        .map(({ tool: name }: { tool: string }) => name)
    }
    await expect.poll(deniedNames, LONG).toEqual(expect.arrayContaining(['Bash', 'NotebookEdit']))
  })

  test('lets the gateway’s own tools through to the gateway, and no other server’s', async () => {
    const token = await person()
    for (const server of ['gateway', 'tollgate']) {
      expect((await ask(token, `mcp__${server}__box__increment`, { by: 1 })).allow).toBe(true)
      expect((await ask(token, `mcp__${server}__box__nothing`, {})).message).toMatch(/^unknown_tool/)
    }
    for (const name of ['mcp__box__echo', 'mcp__evil__box__echo', 'mcp__gatewayx__box__echo']) {
      expect((await ask(token, name, {})).message).toMatch(/tool of another MCP server/)
    }
    expect(await cardsOf(token)).toEqual([])
  })

  test('refuses what it cannot read', async () => {
    const token = await person()
    for (const [name, input] of [
      [undefined, {}],
      [7, {}],
      ['', {}],
      ['Read'],
      ['Read', 'x'],
      ['Read', [1]],
      ['Read', null],
    ] as const) {
      expect(await ask(token, name, input)).toMatchObject({
        allow: false,
        message: expect.stringMatching(/invalid_arg/),
      })
    }
  })

  test('shows no secret of an input on its card', async () => {
    const token = await person()
    await ask(token, 'Bash', {
      command: 'curl -H "Authorization: Bearer sk-live-0123456789abcdefghij" https://x.example',
    })
    const [card] = await cardsOf(token)
    expect(card.arguments.command).toContain('[redacted')
    expect(JSON.stringify(card)).not.toContain('0123456789abcdefghij')
  })
})

describe('the hook fails closed', () => {
  test('for a payload that is none, always with status 200, since any other lets the tool run', async () => {
    const token = await person()
    const bodies = [
      '',
      '{',
      '[]',
      'null',
      '"Read"',
      { tool_name: 'Read', tool_input: {} },
      { ...payload('Read', {}), hook_event_name: 'PostToolUse' },
      '{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_name":"Read","tool_input":{}}',
      `{"hook_event_name":"PreToolUse","tool_name":"Read","tool_input":${'{"a":'.repeat(200)}1${'}'.repeat(200)}}`,
    ]
    for (const body of bodies) expect(await readHook(await postHook(token, body))).toMatchObject({ allow: false })
  })

  test('for a body that is too long', async () => {
    const token = await person()
    const body = payload('Read', { text: 'x'.repeat(6_000_000) })
    expect(await readHook(await postHook(token, body))).toMatchObject({ allow: false })
  })

  test('for a token that is wrong, revoked or an operator’s, and says why', async () => {
    const revoked = await person()
    await gateway.api('DELETE', `/v1/sessions/${sessionOf(revoked)}`)
    for (const token of ['', 'nonsense', revoked, 'test-admin-key-that-is-long-enough']) {
      const refused = await readHook(await postHook(token, payload('Read', {})))
      expect(refused).toMatchObject({ allow: false, message: expect.stringMatching(/may not run: .*token/i) })
    }
  })

  test('in a role without a permission prompt, whatever its ceiling holds', async () => {
    const token = await gateway.token({ role: 'coworker', tools: ['Read', 'Bash'] })
    const refused = await readHook(await postHook(token, payload('Read', {})))
    expect(refused).toMatchObject({ allow: false, message: expect.stringMatching(/coworker has no permission prompt/) })
  })

  test('with nobody to ask: reads run, writes do not', async () => {
    const token = await person({ approval: { channel: 'none' } })
    expect((await hook(token, 'Read', {})).allow).toBe(true)
    expect((await hook(token, 'Bash', { command: 'ls' })).message).toMatch(/^approval_required/)
  })

  test('and takes POST only', async () => {
    const response = await postHook(await person(), '', 'GET')
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
  })
})

test('a caller who goes away leaves the card, and the wait ends', async () => {
  const token = await waiter()
  const gone = new AbortController()
  const left = fetch(`${patient.url}/v1/hooks/pre-tool-use`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify(payload('Bash', { command: 'sleep 1' })),
    signal: gone.signal,
  }).catch(() => 'left')
  await expect.poll(async () => (await cardsOf(token)).length, LONG).toBe(1)
  gone.abort()
  expect(await left).toBe('left')
  await decide(token, 'approve')
  expect((await hook(token, 'Bash', { command: 'sleep 1' })).allow).toBe(true)
  expect((await cardsOf(token)).map(({ status }) => status)).toEqual(['done'])
})

test('a gateway that stops says “pending” to whoever waits', async () => {
  const stopping = await startGateway({}, { TOLLGATE_APPROVAL_WAIT_MS: '60000' })
  const token = await stopping.token({ role: 'person-chat' })
  const asking = fetch(`${stopping.url}/v1/hooks/pre-tool-use`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify(payload('Bash', { command: 'ls' })),
  })
  const pending = async () => (await stopping.api('GET', '/v1/approvals?status=pending')).body.items.length
  await expect.poll(pending, LONG).toBe(1)
  await stopping.close()
  expect((await readHook(await asking)).message).toMatch(/^approval_pending/)
})

test('a dry run says of a built-in what the harness would be told', async () => {
  const explain = async (name: string) =>
    (
      await gateway.api('POST', '/v1/explain', {
        claims: { role: 'person-chat', ceiling: ['Bash', 'Read'] },
        tool: name,
      })
    ).body
  expect(await explain('Bash')).toMatchObject({ effect: 'ask', access: 'write' })
  expect(await explain('Read')).toMatchObject({ effect: 'allow', access: 'read', rule: 'builtin' })
  expect(await explain('Write')).toMatchObject({ effect: 'deny', code: 'unknown_tool' })
})
