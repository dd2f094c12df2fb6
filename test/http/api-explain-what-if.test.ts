/** What other policy files would have made of the calls on record. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { readFolder, shippedPolicies } from '../../src/config/files.ts'
import { recordedVerdict } from '../../src/http/api/what-if.ts'
import { createWorld, type World } from './api-world.ts'

let world: World
let reader: string
let asker: string
beforeAll(async () => {
  world = await createWorld()
  reader = (await world.issue({ role: 'person-chat' })).id
  asker = (await world.issue({ role: 'person-chat' })).id
  await call(reader, 'files', 'read_file')
  await call(reader, 'files', 'read_file')
  await call(reader, 'nowhere', 'go')
  await world.park(asker, 'mcp__files__write_file', { path: 'a.txt' })
  await vi.waitFor(async () => expect((await whatIf(files(() => {}))).body.calls).toBe(4), { timeout: 5_000 })
})
afterAll(() => world.close())

/** A call of a session, as a door would make it. */
async function call(sessionId: string, connector: string, own: string): Promise<void> {
  const session = await world.session(sessionId)
  const name = `mcp__${connector}__${own}`
  await world.gate.call({
    session,
    written: `${connector}__${own}`,
    name,
    tool: world.registry.tools(session.brand).find((tool) => tool.name === name),
    argumentsText: '{"path":"a secret argument"}',
    extraText: '',
    metaText: '',
    elicitation: { form: false, url: false },
    onProgress: undefined,
    ask: async () => new Map(),
    onHold: () => {},
  }).outcome
}

type Edit = (name: string, value: any) => void

/** The shipped policies, edited. */
function files(edit: Edit) {
  return readFolder(shippedPolicies(), '', []).map(({ file, value }) => {
    const copy = structuredClone(value)
    edit(file, copy)
    return { name: file, value: copy }
  })
}

const whatIf = (set: unknown, more: object = {}) => world.ask('POST', '/v1/explain/what-if', { files: set, ...more })

const noConnectors: Edit = (name, value) => {
  if (name === 'person-chat.yaml') value.connectors.which = 'none'
}

describe('what if', () => {
  it('the policies in force change nothing', async () => {
    const { status, body } = await whatIf(files(() => {}))
    expect(status).toBe(200)
    expect(body).toMatchObject({ calls: 4, same: 4, changed: [], unjudged: [], truncated: false })
  })

  it('a narrower role shows each call that it would have refused, with the rule, and what today says', async () => {
    const { body } = await whatIf(files(noConnectors))
    expect(body).toMatchObject({ calls: 4, same: 1, unjudged: [] })
    const brief = body.changed.map(({ tool, sessionId, calls, recorded, today, whatIf: then }: any) => [
      tool,
      sessionId,
      calls,
      recorded.effect,
      today.effect,
      then.effect,
      then.code,
      then.rule,
    ])
    expect(brief.sort()).toEqual([
      ['mcp__files__read_file', reader, 2, 'allow', 'allow', 'deny', 'unknown_tool', 'role'],
      ['mcp__files__write_file', asker, 1, 'ask', 'ask', 'deny', 'unknown_tool', 'role'],
    ])
    expect(body.changed[0].whatIf.because).toContain('The role person-chat holds no tool of files.')
  })

  it('a role that may ask nobody refuses its sessions whole, and says why', async () => {
    const { body } = await whatIf(
      files((name, value) => {
        if (name !== 'person-chat.yaml') return
        for (const word of ['asksPerson', 'terminalDecides', 'permissionPrompt']) value[word] = false
      }),
    )
    expect(body.changed).toHaveLength(2)
    expect(body.changed[0].whatIf).toMatchObject({
      effect: 'deny',
      rule: 'claims',
      because: expect.stringContaining('has nobody to ask'),
    })
  })

  it('changes nothing that is in force, and leaves no row and no card', async () => {
    const before = (await world.ask('GET', '/v1/audit')).body.items.length
    await whatIf(files(noConnectors))
    const { body } = await world.ask('POST', '/v1/explain', { session: reader, tool: 'files/read_file' })
    expect(body.effect).toBe('allow')
    expect((await world.ask('GET', '/v1/audit')).body.items).toHaveLength(before)
  })

  it('judges the calls of a revoked session as they were', async () => {
    const { id } = await world.issue({ role: 'person-chat', brand: 'acme' })
    await call(id, 'search', 'find')
    await world.ask('DELETE', `/v1/sessions/${id}`)
    const acme = async () =>
      (
        await whatIf(
          files(() => {}),
          { brand: 'acme' },
        )
      ).body
    await expect.poll(async () => (await acme()).calls).toBe(1)
    expect(await acme()).toMatchObject({ same: 1, changed: [] })
  })

  it('looks no further back than asked', async () => {
    expect((await whatIf(files(noConnectors), { days: 1e-9 })).body).toMatchObject({ calls: 0, changed: [] })
  })

  it('refuses files that are no policies, with every problem', async () => {
    const { status, body } = await whatIf([{ name: 'a.yaml', value: { rolle: 'x' } }])
    expect([status, body.errors[0].rule]).toEqual([422, 'policies'])
    expect(body.detail).toContain('a.yaml: a policy file opens with')
    expect(body.detail).toContain('No policy file is for the role "person-chat"')
    expect((await whatIf([])).status).toBe(422)
    expect(
      (
        await whatIf(
          files(() => {}),
          { days: 0 },
        )
      ).status,
    ).toBe(422)
  })

  it('never shows an argument', async () => {
    expect(JSON.stringify((await whatIf(files(noConnectors))).body)).not.toContain('a secret argument')
  })
})

describe('what a row says of the decision', () => {
  it.each([
    [{ code: 'ok', outcome: 'done' }, 'allow'],
    [{ code: 'upstream_timeout', outcome: 'unknown' }, 'allow'],
    [{ code: 'ok', outcome: 'done', card: 'c' }, 'ask'],
    [{ code: 'approval_pending', outcome: 'parked', card: 'c' }, 'ask'],
    [{ code: 'approval_denied', outcome: 'refused', card: 'c' }, 'ask'],
    [{ code: 'approval_required', outcome: 'refused' }, 'deny'],
    [{ code: 'unknown_tool', outcome: 'refused' }, 'deny'],
    [{ code: 'switched_off', outcome: 'refused' }, 'deny'],
    [{ code: 'session_revoked', outcome: 'refused' }, undefined],
    [{ code: 'upstream_unavailable', outcome: 'refused' }, undefined],
    [{ code: 'internal', outcome: 'refused' }, undefined],
    [{}, undefined],
  ] as const)('%j: %s', (row, effect) => expect(recordedVerdict(row)?.effect).toBe(effect))
})
