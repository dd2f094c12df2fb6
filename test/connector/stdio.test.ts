import { describe, expect, test } from 'vitest'
import { inheritable } from '../../src/connector/mcp/descriptors.ts'
import { openWorld, until } from '../support/stdio-world.ts'

const HELLO = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } }

describe('a stdio upstream', () => {
  test('answers requests, each to its own exchange', async () => {
    const world = openWorld()
    const { answer } = await world.request('initialize', HELLO).ended
    expect(answer?.value.result).toMatchObject({ protocolVersion: '2025-11-25' })
    const slow = world.say('sleep', { ms: 300 })
    const said = await Promise.all(Array.from({ length: 50 }, (_, i) => world.say('echo', { i })))
    expect(said).toEqual(Array.from({ length: 50 }, (_, i) => JSON.stringify({ i })))
    expect(await slow).toBe('slept')
  })

  test('is heard through banners, blank lines, half JSON, bytes that are no text and a 5 MB line', async () => {
    const world = openWorld(['--banner', '--blank', '--half', '--garbage', '--long-line'])
    expect(await world.say('noise')).toBe('after noise')
    const stray = world.logged.filter(({ level }) => level === 'warn')
    expect(stray.every(({ upstream }) => upstream === 'scripted')).toBe(true)
    expect(stray[0]?.line).toContain('Welcome')
    // Banner, half, garbage, long line; then debug line, half, array, string.
    expect(stray.length).toBe(8)
    expect(stray.every(({ line }) => String(line).length <= 1001)).toBe(true)
  })

  test('is not blocked by 100 MB on stderr, which the log bounds', async () => {
    const world = openWorld([])
    expect(await world.say('stderr', { mb: 100 })).toBe('flooded')
    expect(world.logged.length).toBeGreaterThan(0)
    expect(world.logged.length).toBeLessThan(300)
  })

  test('gets the base environment and its own variables', async () => {
    const hostEnvironment = {
      ...process.env,
      DATABASE_URL: 'postgres://x',
      TOLLGATE_SECRET: 'top',
      SSH_AUTH_SOCK: '/s',
    }
    const world = openWorld([], { env: { API_TOKEN: 'a-long-token' }, hostEnvironment })
    const environment = Object.keys(JSON.parse(await world.say('environment')))
    const allowed = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER', 'API_TOKEN']
    expect(environment.filter((name) => !allowed.includes(name))).toEqual([])
    expect(environment).toContain('API_TOKEN')
    expect(environment).toContain('PATH')
  })

  test.runIf(process.platform === 'linux')('inherits no descriptor that Node opened', async () => {
    const world = openWorld([], {
      command: '/bin/sh',
      args: ['-c', 'ls /proc/self/fd >&2; read -r line'],
    })
    await until(() => world.logged.length >= 4, 2000)
    const numbers = world.logged.map(({ line }) => Number(line))
    // `ls` itself opens one to read the folder with; the runner's own starter may have left some open.
    expect(numbers.filter((fd) => fd > 3 && !inheritable().includes(fd))).toEqual([])
  })

  test("never shows its own variables' values in the log", async () => {
    const world = openWorld([], {
      command: '/bin/sh',
      args: ['-c', 'echo "key $API_TOKEN hunter2" >&2; echo "key $API_TOKEN"; read -r line'],
      env: { API_TOKEN: 'a-long-token' },
    })
    await until(() => world.logged.length >= 2, 2000)
    expect(world.logged.map(({ line }) => line).sort()).toEqual(['key [redacted]', 'key [redacted] [redacted]'])
  })

  test('that leaves in mid-call may have run what it was given, and is reported at once', async () => {
    const world = openWorld()
    await world.say('echo')
    const [mute, exit] = [world.call('mute'), world.call('exit', { code: 7 })]
    const asked = Date.now()
    for (const { ended } of [mute, exit]) {
      expect((await ended).problem).toEqual({
        kind: 'broken',
        reason: 'The process ended with exit code 7.',
        ran: 'maybe',
      })
    }
    expect(Date.now() - asked).toBeLessThan(1000)
    expect((await world.closed).kind).toBe('broken')
    const late = await world.call('echo').ended
    expect(late.problem).toMatchObject({ kind: 'broken', ran: 'no' })
    expect(await world.wire.post('{"jsonrpc":"2.0","method":"x"}')).toMatchObject({ ran: 'no' })
  })

  test('that answers and leaves at once is heard to the end', async () => {
    for (let i = 0; i < 5; i++) {
      const { answer } = await openWorld().call('answer_and_exit').ended
      expect(answer).toBeDefined()
    }
  })

  test('that closes its output or its input is gone, though it lives', async () => {
    const mute = openWorld()
    expect((await mute.call('shut', { which: 'stdout' }).ended).problem).toMatchObject({ kind: 'broken', ran: 'maybe' })
    await mute.closed
    const deaf = openWorld()
    void deaf.call('shut', { which: 'stdin' })
    await until(() => deaf.ledger().some(({ event }) => event === 'call'), 5000)
    expect((await deaf.call('echo').ended).problem?.kind).toBe('broken')
  })

  test('whose command does not exist is named, and nothing ran', async () => {
    const world = openWorld([], { command: 'no-such-command-here' })
    const { problem } = await world.call('echo').ended
    expect(problem).toEqual({
      kind: 'unreachable',
      reason: 'The command "no-such-command-here" was not found: install it, or give its full path.',
      ran: 'no',
    })
    expect((await world.closed).kind).toBe('unreachable')
    const elsewhere = openWorld([], { cwd: '/no/such/folder' })
    expect((await elsewhere.closed).reason).toContain('The folder "/no/such/folder"')
    const invalid = openWorld([], { args: ['a\0b'] })
    expect((await invalid.closed).kind).toBe('unreachable')
  })

  test('that never answers lets go when the wire is closed', async () => {
    const world = openWorld(['--silent'])
    const asked = world.call('echo')
    await until(() => world.ledger().some(({ event }) => event === 'ignored'), 5000)
    await world.wire.close()
    expect((await asked.ended).problem).toMatchObject({ kind: 'closed', ran: 'maybe' })
  })

  test('that does not read blocks nobody, and is refused more when enough waits', async () => {
    const world = openWorld(['--deaf'])
    const other = openWorld()
    const text = 'x'.repeat(1024 * 1024)
    const asked = Array.from({ length: 20 }, () => world.call('echo', { text }))
    const refused = await Promise.race(asked.map(({ ended }) => ended))
    expect(refused.problem).toMatchObject({ kind: 'unreachable', ran: 'no' })
    expect(await other.say('echo')).toBe('{}')
    await world.wire.close()
    const ran = await Promise.all(asked.map(async ({ ended }) => (await ended).problem?.ran))
    expect(ran.filter((answer) => answer === 'maybe').length).toBe(1)
  })

  test('gets a request of 5 MB and gives one back', async () => {
    const world = openWorld()
    const text = 'ü'.repeat(2.5 * 1024 * 1024)
    expect(JSON.parse(await world.say('echo', { text }))).toEqual({ text })
  })

  test('that answers more than 16 MiB ends that request only', async () => {
    const world = openWorld()
    const big = world.call('big', { bytes: 17 * 1024 * 1024 })
    expect((await big.ended).problem).toMatchObject({ kind: 'too-large', ran: 'maybe' })
    expect(await world.say('echo')).toBe('{}')
  })

  test('that answers with neither result nor error ends that request', async () => {
    const world = openWorld()
    expect((await world.call('garbled').ended).problem).toMatchObject({ kind: 'garbled', ran: 'maybe' })
  })

  test('sends progress to its exchange, and questions and notices to the wire', async () => {
    const world = openWorld()
    const progress = world.call('progress', { steps: 3 })
    await progress.ended
    expect(progress.heard.map(({ value }) => value.method)).toEqual([
      ...Array(3).fill('notifications/progress'),
      undefined,
    ])
    const elicit = world.call('elicit')
    await until(() => world.heard.length > 0, 5000)
    const question = world.heard[0]!.value
    expect(question.method).toBe('elicitation/create')
    const answer = { jsonrpc: '2.0', id: question.id, result: { action: 'decline' } }
    expect(await world.wire.post(JSON.stringify(answer))).toBeUndefined()
    expect((await elicit.ended).answer?.text).toContain('decline')
    await world.say('change_tools')
    expect(world.heard[1]?.value.method).toBe('notifications/tools/list_changed')
  })

  test("sends a subscription's notices to the exchange that opened it", async () => {
    const world = openWorld()
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }
    const listening = world.request('subscriptions/listen', { _meta, notifications: { toolsListChanged: true } })
    await world.request('tools/call', { name: 'change_tools', _meta }).ended
    expect(listening.heard.map(({ value }) => value.method)).toEqual([
      'notifications/subscriptions/acknowledged',
      'notifications/tools/list_changed',
    ])
  })

  test('gets one line whatever the text holds, with its meaning kept', async () => {
    const world = openWorld()
    const text =
      '{"jsonrpc":"2.0","id":1,\r\n"method":"tools/call",\n"params":{"name":"echo","arguments":{"a":"x\u2028y\u2029"}}}'
    const { answer } = await world.request('tools/call', {}, text).ended
    expect(answer?.value.result).toMatchObject({ structuredContent: { a: 'x\u2028y\u2029' } })
  })

  test('does not disturb anybody with an answer to a dropped request', async () => {
    const world = openWorld()
    const slow = world.call('sleep', { ms: 50 })
    slow.drop()
    await world.say('sleep', { ms: 100 })
    expect(slow.heard).toEqual([])
    expect(world.heard).toEqual([])
  })
})
