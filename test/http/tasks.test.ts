/** The Tasks extension: a task is a card as its own session sees it (SEP-2663; ext-tasks, 2026-07-28). */
import { CreateTaskResultV2Schema, GetTaskResultV2Schema } from '@modelcontextprotocol/ext-tasks/core/v2'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HELLO, headerText } from '../support/gateway.ts'
import { DECLARED, decisionOf, TASKS, type WaitsWorld, waitsWorld } from './waits-world.ts'

let world: WaitsWorld
let token: string
beforeAll(async () => {
  world = await waitsWorld(200)
  token = await world.person()
})
afterAll(() => world?.close())

const get = async (taskId: string, as = token) => (await world.task(as, 'tasks/get', taskId)).answer.result
const ended = async (taskId: string) => {
  await expect.poll(async () => (await get(taskId)).status, { timeout: 5_000 }).not.toBe('working')
  return get(taskId)
}

describe('a call that needs a person, whose request declared tasks', () => {
  test('answers at once with a handle, and neither holds nor reports progress', async () => {
    const args = world.fresh()
    const { answer, messages, headers } = await world.call(token, 'pay', args, { meta: { progressToken: 'p' } })
    expect(messages).toHaveLength(1)
    expect(headers.get('content-type')).toMatch(/^application\/json/)
    const task = answer.result
    expect(CreateTaskResultV2Schema.safeParse(task).error).toBeUndefined()
    const card = await world.cardOf(task.taskId)
    expect(task).toMatchObject({
      resultType: 'task',
      status: 'working',
      statusMessage: expect.stringContaining(`${world.gateway.url}/inbox/cards/${card.id}`),
      createdAt: card.createdAt,
      lastUpdatedAt: card.createdAt,
      pollIntervalMs: 5_000,
    })
    expect(task.ttlMs).toBeGreaterThan(Date.parse(card.expiresAt) - Date.parse(card.createdAt))
    expect(card).toMatchObject({ status: 'pending', arguments: args })
    expect(await get(task.taskId)).toMatchObject({ resultType: 'complete', status: 'working', taskId: task.taskId })
    expect(await world.handle(token, 'pay', args)).toBe(task.taskId)
    expect(world.ran(args)).toBe(0)
  })

  test('runs once after the yes, and its result is that of the call, kept for whoever asks again', async () => {
    const args = world.fresh()
    const id = await world.handle(token, 'pay', args)
    await world.decide(id, 'approve')
    const task = await ended(id)
    expect(GetTaskResultV2Schema.safeParse(task).error).toBeUndefined()
    expect(task).toMatchObject({ resultType: 'complete', status: 'completed' })
    const { text } = await world.task(token, 'tasks/get', id)
    expect(text).toContain(`"content":[{"type":"text","text":"paid ${args.n}"}],"structuredContent":{"big":1.50e2}`)
    expect(task.result).toMatchObject({ resultType: 'complete', _meta: { 'shop/id': 7 } })
    expect(task.result._meta['io.modelcontextprotocol/related-task']).toBeUndefined()
    // Told: the same call is a new question, and the old task is still there to be read.
    await expect.poll(() => world.handle(token, 'pay', args)).not.toBe(id)
    expect((await world.task(token, 'tasks/get', id)).text).toBe(text)
    expect(world.ran(args)).toBe(1)
  })

  test('is failed for a JSON-RPC error of the upstream, and for nothing else', async () => {
    const [errs, fails] = [world.fresh(), world.fresh()]
    const ids = await Promise.all([world.handle(token, 'errs', errs), world.handle(token, 'fails', fails)])
    for (const id of ids) await world.decide(id, 'approve')
    expect(await ended(ids[0])).toMatchObject({ status: 'failed', error: { code: 4001, message: 'shop shut' } })
    expect(await ended(ids[1])).toMatchObject({
      status: 'completed',
      result: { isError: true, content: [{ text: 'no funds' }] },
    })
    for (const id of ids) expect(GetTaskResultV2Schema.safeParse(await get(id)).error).toBeUndefined()
  })

  test('is completed with our code when a person says no', async () => {
    const args = world.fresh()
    const id = await world.handle(token, 'pay', args)
    await world.decide(id, 'deny', { note: 'too dear' })
    const { status, result } = await get(id)
    expect([status, result.isError, decisionOf(result).code]).toEqual(['completed', true, 'approval_denied'])
    expect(result.content[0].text).toContain('too dear')
    expect(world.ran(args)).toBe(0)
  })

  test('that comes again after the end is answered with the end, in either era', async () => {
    const [first, second] = [world.fresh(), world.fresh()]
    for (const [args, era] of [
      [first, 'modern'],
      [second, 'legacy'],
    ] as const) {
      const id = await world.handle(token, 'pay', args)
      await world.decide(id, 'approve')
      await expect.poll(async () => (await world.cardOf(id)).status, { timeout: 5_000 }).toBe('done')
      const params = { name: 'shop__pay', arguments: args }
      const { answer } =
        era === 'modern' ? await world.call(token, 'pay', args) : await world.gateway.rpc(token, 'tools/call', params)
      expect(answer.result.content[0].text).toBe(`paid ${args.n}`)
      expect(world.ran(args)).toBe(1)
    }
  })

  test('that another era parked is the same card, and a task as well', async () => {
    const args = world.fresh()
    const held = await world.gateway.rpc(token, 'tools/call', { name: 'shop__pay', arguments: args })
    const { id } = decisionOf(held.answer.result).card
    expect((await get(id)).status).toBe('working')
    expect(await world.handle(token, 'pay', args)).toBe(id)
  })

  test('is an ordinary call where nobody is asked, and refused where nobody can be', async () => {
    expect((await world.call(token, 'look', {})).answer.result.content[0].text).toBe('looked')
    const alone = await world.person({ approval: { channel: 'none' } })
    expect(decisionOf((await world.call(alone, 'pay', world.fresh())).answer.result).code).toBe('approval_required')
  })
})

describe('tasks/cancel', () => {
  test('takes back what has not started: cancelled, never run, and no longer to be approved', async () => {
    const args = world.fresh()
    const id = await world.handle(token, 'pay', args)
    const { answer } = await world.task(token, 'tasks/cancel', id)
    expect(Object.keys(answer.result).sort()).toEqual(['_meta', 'resultType'])
    expect(await get(id)).toMatchObject({ status: 'cancelled' })
    expect(GetTaskResultV2Schema.safeParse(await get(id)).error).toBeUndefined()
    expect(await world.cardOf(id)).toMatchObject({ status: 'withdrawn', decidedBy: 'the caller' })
    expect((await world.decide(id, 'approve')).status).toBe(409)
    expect(await world.handle(token, 'pay', args)).not.toBe(id)
    expect(world.ran(args)).toBe(0)
  })

  test('never undoes what has started, and is acknowledged whatever it finds', async () => {
    const args = world.fresh()
    const id = await world.handle(token, 'slow', args)
    await world.decide(id, 'approve')
    await expect.poll(() => world.ran(args), { timeout: 5_000 }).toBe(1)
    for (const before of ['working', 'completed']) {
      expect((await get(id)).status).toBe(before)
      expect((await world.task(token, 'tasks/cancel', id)).answer.result.resultType).toBe('complete')
      world.release()
      expect((await ended(id)).status).toBe('completed')
    }
    expect(world.ran(args)).toBe(1)
  })

  test('leaves the card to another caller who waits for it', async () => {
    const args = world.fresh()
    const id = await world.handle(token, 'pay', args)
    const held = world.call(token, 'pay', args, { capabilities: {} })
    await new Promise((resolve) => setTimeout(resolve, 60))
    await world.task(token, 'tasks/cancel', id)
    expect((await get(id)).status).toBe('working')
    expect(decisionOf((await held).answer.result).card).toMatchObject({ id, status: 'pending' })
  })
})

test('tasks/update is acknowledged and changes nothing', async () => {
  const id = await world.handle(token, 'pay', world.fresh())
  const before = await world.cardOf(id)
  const params = { taskId: id, inputResponses: { k: { action: 'accept', content: { approve: true } } } }
  const { answer } = await world.gateway.modern(token, 'tasks/update', params, {
    capabilities: DECLARED,
    headers: { 'mcp-name': id },
  })
  expect(answer.result.resultType).toBe('complete')
  expect(await world.cardOf(id)).toEqual(before)
})

const METHODS = ['tasks/get', 'tasks/update', 'tasks/cancel']

describe.each(METHODS)('%s', (method) => {
  test('wants Mcp-Name to say the task’s id', async () => {
    const id = await world.handle(token, 'pay', world.fresh())
    const wrong: Record<string, string>[] = [{}, { 'mcp-name': 'another' }, { 'mcp-name': '' }]
    for (const headers of wrong) {
      const { status, answer } = await world.task(token, method, id, { headers })
      expect([status, answer.error.code]).toEqual([400, -32020])
    }
    const coded = { 'mcp-name': `=?base64?${Buffer.from(id).toString('base64')}?=` }
    expect((await world.task(token, 'tasks/get', id, { headers: coded })).answer.result.status).toBe('working')
  })

  test('is refused on a request that does not declare the extension, whatever others did', async () => {
    const id = await world.handle(token, 'pay', world.fresh())
    for (const capabilities of [{}, { extensions: {} }, { extensions: { [TASKS]: true } }, { tasks: {} }]) {
      const { status, answer } = await world.task(token, method, id, { capabilities })
      expect([status, answer.error.code]).toEqual([400, -32021])
      expect(answer.error.data).toEqual({ requiredCapabilities: DECLARED })
    }
    expect((await world.cardOf(id)).status).toBe('pending')
  })

  test('answers for another session’s task as for one that never was, byte for byte', async () => {
    const id = await world.handle(token, 'pay', world.fresh())
    const strangers = [await world.person(), await world.person({ brand: 'other' })]
    const ids = [id, '00000000-0000-4000-8000-000000000000', 'never was', '__proto__', '', id.toUpperCase(), `${id} `]
    const texts = new Set<string>()
    for (const as of strangers) {
      for (const written of ids) {
        const { text, status } = await world.task(as, method, written, { headers: { 'mcp-name': headerText(written) } })
        texts.add(`${status} ${text}`)
      }
    }
    expect([...texts]).toEqual([expect.stringMatching(/^200 .*"code":-32602/)])
    expect((await world.cardOf(id)).status).toBe('pending')
  })

  test('wants the id to be a text', async () => {
    for (const taskId of [undefined, null, 7, {}, ['x']]) {
      expect((await world.task(token, method, taskId)).answer.error.code).toBe(-32602)
    }
  })

  test('is out with its session', async () => {
    const { body } = await world.gateway.api('POST', '/v1/sessions', { role: 'person-chat' })
    const id = await world.handle(body.token, 'pay', world.fresh())
    await world.gateway.api('DELETE', `/v1/sessions/${body.id}`)
    expect((await world.task(body.token, method, id)).status).toBe(401)
  })
})

test('a request that does not declare tasks never gets a handle, whatever was declared before', async () => {
  await world.handle(token, 'pay', world.fresh())
  for (const capabilities of [{}, { extensions: {} }, { tasks: { requests: {} } }]) {
    const { answer } = await world.call(token, 'pay', world.fresh(), { capabilities, params: { task: { ttl: 1 } } })
    expect(answer.result.resultType).toBe('complete')
    expect(decisionOf(answer.result).code).toBe('approval_pending')
  }
})

test('the tasks of 2025-11-25 are another wire: not advertised, and no handle', async () => {
  const capabilities = { tasks: {}, ...DECLARED }
  const opened = await world.gateway.rpc(token, 'initialize', { ...HELLO, capabilities })
  expect(opened.answer.result.capabilities).toEqual({ tools: { listChanged: true } })
  const headers = { 'mcp-session-id': opened.headers.get('mcp-session-id')! }
  const params = { name: 'shop__pay', arguments: world.fresh(), task: { ttl: 60_000 } }
  const { answer } = await world.gateway.rpc(token, 'tools/call', params, { headers })
  expect([answer.result.taskId, answer.result.task]).toEqual([undefined, undefined])
  expect(decisionOf(answer.result).code).toBe('approval_pending')
})

test('a stream of task notices is refused to a client without tasks', async () => {
  const params = { notifications: { taskIds: ['x'] } }
  const { status, answer } = await world.gateway.modern(token, 'subscriptions/listen', params)
  expect([status, answer.error.code]).toEqual([400, -32021])
})
