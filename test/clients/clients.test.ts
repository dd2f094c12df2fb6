/** One story, told by each real client against one gateway. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { startUpstream, tool, type Upstream } from '../support/upstream.ts'
import { type ConnectOptions, inspector, sdkV1, sdkV2Auto, sdkV2Legacy, type TestClient, textOf, until } from './kit.ts'

const TOOLS = ['echo', 'progress', 'hang', 'failing', 'increment'].map((name) => tool(name))
const LISTED = [
  'box__echo',
  'box__failing',
  'box__hang',
  'box__increment',
  'box__progress',
  'harness__permission_prompt',
]
const BAD_TOKEN = 'This is no session token: it must be three base64url parts with dots.'
const APPROVAL_WAIT_MS = 6_000

let gateway: Gateway
let upstream: Upstream

beforeAll(async () => {
  upstream = await startUpstream({ tools: TOOLS })
  const tools = { echo: 'read', progress: 'read', hang: 'read', failing: 'read', late: 'read' }
  gateway = await startGateway(
    { box: { type: 'http', url: upstream.url, tools, newTools: 'open' } },
    { TOLLGATE_APPROVAL_WAIT_MS: String(APPROVAL_WAIT_MS) },
  )
  await gateway.running.settled(10_000)
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const personToken = () => gateway.token({ role: 'person-chat', approval: { channel: 'inbox' } })
const times = (name: string) => upstream.ledger.filter((entry) => entry.tool === name).length
const sessionOf = (token: string): string => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()).jti

/** The card that waits in a token's session, once it does. */
async function cardOf(token: string): Promise<any> {
  let card: any
  await until('a card is pending', async () => {
    const { body } = await gateway.api('GET', `/v1/approvals?status=pending&sessionId=${sessionOf(token)}`)
    card = body.items[0]
    return card
  })
  return card
}

const approve = async (token: string): Promise<any> => {
  const { id } = await cardOf(token)
  const { status } = await gateway.api('POST', `/v1/approvals/${id}/approve`, {})
  expect(status).toBe(200)
  return id
}

const cardStatus = async (id: string): Promise<string> => (await gateway.api('GET', `/v1/approvals/${id}`)).body.status

describe.each([sdkV1, sdkV2Legacy, sdkV2Auto])('$name', (kind) => {
  async function connect(token: string, options?: ConnectOptions): Promise<TestClient> {
    const client = await kind.connect(gateway.mcpUrl, token, options)
    onTestFinished(() => client.close())
    return client
  }

  test('lists exactly what the session may call, and is told so in the instructions', async () => {
    const person = await connect(await personToken())
    expect((await person.list()).map(({ name }) => name)).toEqual(LISTED)
    expect(person.instructions()).toContain('box__echo')
    const nobody = await connect(await gateway.token({ role: 'specialist', tools: ['Read'] }))
    expect(await nobody.list()).toEqual([])
  })

  test('calls a tool, and its arguments arrive as they were sent', async () => {
    const client = await connect(await personToken())
    const args = { text: 'Grüße, 世界', deep: { list: [1, null, true] } }
    expect(JSON.parse(textOf(await client.call('box__echo', args)))).toEqual(args)
  })

  test('lists and calls at the door of one connector under the tools’ own names', async () => {
    const client = await kind.connect(`${gateway.mcpUrl}/box`, await personToken())
    onTestFinished(() => client.close())
    expect((await client.list()).map(({ name }) => name)).toContain('echo')
    expect(textOf(await client.call('echo', { a: 1 }))).toBe('{"a":1}')
  })

  test('sees a failure of the tool as a result', async () => {
    const client = await connect(await personToken())
    const result = await client.call('box__failing')
    expect([result.isError, textOf(result)]).toEqual([true, 'it failed'])
  })

  test('is refused a name that is not listed, in the words for a tool that does not exist', async () => {
    const client = await connect(await gateway.token({ role: 'specialist', tools: ['Read'] }))
    const before = upstream.of('tools/call').length
    await expect(client.call('box__echo')).rejects.toThrow(/Unknown tool: box__echo/)
    await expect(client.call('box__nosuch')).rejects.toThrow(/Unknown tool: box__nosuch/)
    expect(upstream.of('tools/call').length).toBe(before)
  })

  test('does not come in with a bad token', async () => {
    const problem = await kind.connect(gateway.mcpUrl, 'not-a-session-token').then(
      () => undefined,
      (refused: Error) => refused,
    )
    // A client that probes says that authorization is wanted, and leaves out what the answer says.
    expect(JSON.stringify([problem?.message, (problem as any)?.data, String(problem?.cause)])).toMatch(
      kind.era === 'modern' ? /401/ : new RegExp(BAD_TOKEN),
    )
  })

  test('is out within a second of its session’s revocation', async () => {
    const token = await personToken()
    const client = await connect(token)
    await client.call('box__echo')
    await gateway.api('DELETE', `/v1/sessions/${sessionOf(token)}`)
    let problem: Error | undefined
    const refused = async (): Promise<boolean> => {
      problem = await client.call('box__echo').then(
        () => undefined,
        (caught: Error) => caught,
      )
      return problem !== undefined
    }
    expect(await until('a call is refused', refused)).toBeLessThan(1_000)
    expect(problem?.message).toMatch(/revoked or has ended/)
  })

  test('hears progress in order', async () => {
    const client = await connect(await personToken())
    const heard: unknown[] = []
    const result = await client.call(
      'box__progress',
      { count: 3, ms: 30 },
      { onProgress: ({ progress, message }) => heard.push([progress, message]) },
    )
    expect(textOf(result)).toBe('progressed')
    expect(heard).toEqual([1, 2, 3].map((step) => [step, `step ${step}`]))
  })

  test('is held while a person decides, hears so, and gets the outcome of the one run', async () => {
    const token = await personToken()
    const client = await connect(token)
    const before = times('increment')
    const heard: Array<string | undefined> = []
    const held = client.call('box__increment', { why: 'held' }, { onProgress: ({ message }) => heard.push(message) })
    const id = await cardOf(token).then(() => {
      expect(times('increment')).toBe(before)
      return approve(token)
    })
    expect((await held).isError).toBeFalsy()
    expect(times('increment')).toBe(before + 1)
    expect(heard[0]).toContain(id)
    await until('the card is done', async () => (await cardStatus(id)) === 'done')
  })

  test('that gets "pending" collects the outcome later, and it ran once', async () => {
    const token = await personToken()
    const client = await connect(token)
    const before = times('increment')
    const first = await client.call('box__increment', { why: 'later' })
    expect([first.isError ?? false, textOf(first)]).toEqual([false, expect.stringMatching(/^approval_pending: /)])
    expect(first._meta['dev.tollgate/decision']).toMatchObject({ code: 'approval_pending' })
    const id = await approve(token)
    await until('the card is done', async () => (await cardStatus(id)) === 'done')
    const second = await client.call('box__increment', { why: 'later' })
    expect(textOf(second)).toMatch(/^\d+$/)
    expect(times('increment')).toBe(before + 1)
  })

  test('reads that a person said no', async () => {
    const token = await personToken()
    const client = await connect(token)
    const before = times('increment')
    const held = client.call('box__increment', { why: 'no' })
    const { id } = await cardOf(token)
    await gateway.api('POST', `/v1/approvals/${id}/deny`, { note: 'Not on a Monday.' })
    const result = await held
    expect([result.isError, textOf(result)]).toEqual([
      true,
      expect.stringMatching(/^approval_denied: .*Not on a Monday/),
    ])
    expect(times('increment')).toBe(before)
  })

  test('is told of a changed list and has read it again within a second', async () => {
    let seen: string[] = []
    await connect(await personToken(), {
      onList: (names) => {
        seen = names
      },
    })
    await until('its stream of notices stands', async () => (await openStreams()) > 0)
    upstream.setTools([...TOOLS, tool('late')])
    onTestFinished(async () => {
      upstream.setTools(TOOLS)
      upstream.notifyChanged()
      await until('the list is as before', async () => {
        const { body } = await gateway.api('GET', '/v1/connectors')
        return body.items[0].tools.length === TOOLS.length
      })
    })
    upstream.notifyChanged()
    expect(await until('the new tool is listed', () => seen.includes('box__late'))).toBeLessThan(1_000)
  })

  test('that cancels ends the call at the upstream', async () => {
    const client = await connect(await personToken())
    const before = upstream.aborted.length
    const stop = new AbortController()
    const hanging = client.call('box__hang', {}, { signal: stop.signal })
    const lost = hanging.then(
      () => undefined,
      (problem: unknown) => problem,
    )
    await until('the upstream has the call', () => upstream.of('tools/call').at(-1)?.body.includes('"hang"'))
    stop.abort()
    expect(await lost).toBeDefined()
    await until('the upstream is left', () => upstream.aborted.slice(before).some(({ rpc }) => rpc === 'tools/call'))
  })

  test.runIf(kind.era === 'legacy')('pings', async () => {
    const client = await connect(await personToken())
    expect(await client.ping?.()).toEqual({})
  })
})

async function openStreams(): Promise<number> {
  const response = await fetch(`${gateway.url}/metrics`, {
    headers: { authorization: 'Bearer test-admin-key-that-is-long-enough' },
  })
  return Number(/^tollgate_open_streams (\d+)$/m.exec(await response.text())?.[1])
}

describe.each(['legacy', 'auto', 'modern'] as const)('the MCP Inspector, --protocol-era %s', (era) => {
  async function inspect() {
    const opened = await inspector(gateway.mcpUrl, era)
    onTestFinished(() => opened.close())
    return opened
  }
  const calling = (name: string, args: object) => [
    '--method',
    'tools/call',
    '--tool-name',
    name,
    '--tool-args-json',
    JSON.stringify(args),
  ]

  test('lists, calls, and finds no tool that is not listed', async () => {
    const { run } = await inspect()
    const token = await personToken()
    const [list, call, refused] = await Promise.all([
      run(token, '--method', 'tools/list', '--strict'),
      run(token, ...calling('box__echo', { text: 'hi' })),
      run(await gateway.token({ role: 'specialist', tools: ['Read'] }), ...calling('box__echo', {})),
    ])
    expect(list).toMatchObject({ code: 0 })
    expect(JSON.parse(list.out).result.tools.map(({ name }: { name: string }) => name)).toEqual(LISTED)
    expect(call).toMatchObject({ code: 0 })
    expect(textOf(JSON.parse(call.out).result)).toBe('{"text":"hi"}')
    expect(refused).toMatchObject({ code: 5, err: expect.stringContaining('tool_not_found') })
  })

  test('does not come in with a bad token', async () => {
    const { run } = await inspect()
    const { code, err } = await run('not-a-session-token', '--method', 'tools/list')
    expect([code, err]).toEqual([3, expect.stringContaining(era === 'legacy' ? BAD_TOKEN : 'HTTP 401')])
  })

  // In the modern era it declares tasks, so it is not held but follows a handle.
  test('waits while a person decides, and gets the outcome of the one run', async () => {
    const { run } = await inspect()
    const token = await personToken()
    const before = times('increment')
    const held = run(token, ...calling('box__increment', { why: 'inspector' }))
    await approve(token)
    const { code, out } = await held
    expect([code, textOf(JSON.parse(out).result)]).toEqual([0, expect.stringMatching(/^\d+$/)])
    expect(times('increment')).toBe(before + 1)
  })

  test.runIf(era !== 'legacy')('that is killed ends the call at the upstream', async () => {
    const { run, close } = await inspect()
    const before = [upstream.of('tools/call').length, upstream.aborted.length] as const
    const lost = run(await personToken(), ...calling('box__hang', { by: era }))
    await until('the upstream has the call', () => upstream.of('tools/call').length > before[0], 20_000)
    await close()
    expect((await lost).code).not.toBe(0)
    await until('the upstream is left', () => upstream.aborted.slice(before[1]).some(({ rpc }) => rpc === 'tools/call'))
  })

  test.runIf(era !== 'legacy')(
    'that is killed while it follows a task finds the outcome with another run',
    async () => {
      const [{ run, close }, again] = [await inspect(), await inspect()]
      const token = await personToken()
      const before = times('increment')
      const call = calling('box__increment', { why: `killed, ${era}` })
      const lost = run(token, ...call)
      const id = await approve(token)
      await close()
      await lost
      await until('the card is done', async () => (await cardStatus(id)) === 'done')
      const { code, out } = await again.run(token, ...call)
      expect([code, textOf(JSON.parse(out).result)]).toEqual([0, expect.stringMatching(/^\d+$/)])
      expect(times('increment')).toBe(before + 1)
    },
  )

  test.runIf(era === 'legacy')('that gets "pending" collects the outcome with another run', async () => {
    const { run } = await inspect()
    const token = await personToken()
    const before = times('increment')
    const first = await run(token, ...calling('box__increment', { why: 'inspector, later' }))
    expect([first.code, textOf(JSON.parse(first.out).result)]).toEqual([
      0,
      expect.stringMatching(/^approval_pending: /),
    ])
    const id = await approve(token)
    await until('the card is done', async () => (await cardStatus(id)) === 'done')
    const second = await run(token, ...calling('box__increment', { why: 'inspector, later' }))
    expect([second.code, textOf(JSON.parse(second.out).result)]).toEqual([0, expect.stringMatching(/^\d+$/)])
    expect(times('increment')).toBe(before + 1)
  })
})
