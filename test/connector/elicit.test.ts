import { describe, expect, test } from 'vitest'
import type { Question, UpstreamCall } from '../../src/connector/connector.ts'
import { call, ready, textOf, upstream } from '../support/connectors.ts'

const FORM = { form: true, url: false }
const BOTH = { form: true, url: true }

/** A person who always says the same; what was asked is kept. */
function person(say: string | undefined) {
  const asked: Question[] = []
  const ask: UpstreamCall['ask'] = async (questions) => {
    asked.push(...questions)
    return new Map(say === undefined ? [] : questions.map(({ key }) => [key, say]))
  }
  return { ask, asked }
}

/** What the upstream's tool heard of the person. */
function heard(era: string, text: string): unknown {
  const value = JSON.parse(text) as { result?: unknown; responses?: Record<string, unknown> }
  return era === 'legacy' ? value.result : value.responses?.k1
}

describe.each(['legacy', 'modern'] as const)('a %s upstream that asks a person', (era) => {
  test('is answered, and who asks is made plain', async () => {
    const up = await upstream({ era, sessions: era === 'legacy' })
    const { connector } = await ready(up)
    const { ask, asked } = person('{"action":"accept","content":{"n":9007199254740993},"_meta":{"c4n4ry":1}}')
    const params = {
      message: 'Your name?',
      requestedSchema: { type: 'object', properties: {} },
      _meta: { progressToken: 1 },
    }
    const answer = textOf(await call(connector, 'elicit', { params }, { elicitation: FORM, ask }))
    expect(asked.map(({ paramsText }) => paramsText)).toEqual([
      '{"message":"[up] Your name?","requestedSchema":{"type":"object","properties":{}}}',
    ])
    expect(JSON.stringify(up.requests)).toContain(
      '{\\"action\\":\\"accept\\",\\"content\\":{\\"n\\":9007199254740993}}',
    )
    expect(JSON.stringify(up.requests)).not.toContain('c4n4ry')
    expect(heard(era, answer)).toMatchObject({ action: 'accept' })
    if (era === 'modern') expect(JSON.parse(answer).state).toBe('opaque "state"')
  })

  test('hears of a person only where this call has one', async () => {
    const up = await upstream({ era, sessions: era === 'legacy' })
    const { connector } = await ready(up)
    await call(connector, 'echo', {}, { elicitation: BOTH })
    await call(connector, 'echo', {}, { elicitation: FORM })
    await call(connector, 'echo', {})
    const declared =
      era === 'legacy'
        ? up
            .of('initialize')
            .slice(1)
            .map((seen) => JSON.parse(seen.body).params.capabilities)
        : up
            .of('tools/call')
            .map((seen) => JSON.parse(seen.body).params._meta['io.modelcontextprotocol/clientCapabilities'])
    expect(declared).toEqual([{ elicitation: { form: {}, url: {} } }, { elicitation: { form: {} } }, {}])
  })

  test('gets a quick refusal where there is nobody', async () => {
    const up = await upstream({ era, sessions: era === 'legacy' })
    const { connector } = await ready(up)
    const began = Date.now()
    const answer = JSON.parse(textOf(await call(connector, 'elicit'))) as object
    if (era === 'legacy') expect(answer).toMatchObject({ error: { code: -32601 } })
    else expect(answer).toMatchObject({ responses: { k1: { action: 'decline' } } })
    expect(Date.now() - began).toBeLessThan(1_000)
  })

  test.each([
    ['a page of another host', { mode: 'url', url: 'https://evil.example/x', message: 'm' }],
    ['a page with a user part', { mode: 'url', url: 'http://a@127.0.0.1/x', message: 'm' }],
    ['a script', { mode: 'url', url: 'javascript:alert(1)', message: 'm' }],
    ['a mode nobody knows', { mode: 'voice', message: 'm' }],
    ['no message', { requestedSchema: {} }],
  ])('is declined for %s', async (_name, params) => {
    const up = await upstream({ era, sessions: era === 'legacy' })
    const { connector } = await ready(up)
    const { ask, asked } = person('{"action":"accept"}')
    const answer = textOf(await call(connector, 'elicit', { params }, { elicitation: BOTH, ask }))
    expect(heard(era, answer)).toEqual({ action: 'decline' })
    expect(asked).toEqual([])
  })

  test('may send a person to its own page, or to one the operator listed', async () => {
    const up = await upstream({ era, sessions: era === 'legacy' })
    const { connector } = await ready(up, { elicitationHosts: ['login.example'] })
    const { ask, asked } = person('{"action":"accept"}')
    for (const url of ['http://127.0.0.1/login', 'https://login.example/x']) {
      const answer = textOf(
        await call(connector, 'elicit', { params: { mode: 'url', url, message: 'm' } }, { elicitation: BOTH, ask }),
      )
      expect(heard(era, answer)).toEqual({ action: 'accept' })
    }
    expect(asked).toHaveLength(2)
  })

  test.each(['{"action":"maybe"}', 'nonsense', '[]', '{"action":"accept","action":"decline"}'])(
    'hears cancel when the client says %s',
    async (said) => {
      const up = await upstream({ era, sessions: era === 'legacy' })
      const { connector } = await ready(up)
      const answer = textOf(await call(connector, 'elicit', {}, { elicitation: FORM, ask: person(said).ask }))
      expect(heard(era, answer)).toEqual({ action: 'cancel' })
    },
  )

  test('waits for the person longer than for itself', async () => {
    const up = await upstream({ era, sessions: era === 'legacy' })
    const { connector } = await ready(up, { timeoutMs: 200 })
    const ask: UpstreamCall['ask'] = async (questions) => {
      await new Promise((resolve) => setTimeout(resolve, 500))
      return new Map(questions.map(({ key }) => [key, '{"action":"decline"}']))
    }
    expect((await call(connector, 'elicit', {}, { elicitation: FORM, ask })).kind).toBe('result')
  })
})

test('a modern upstream that asks for ever is stopped after eight rounds', async () => {
  const up = await upstream({ era: 'modern' })
  const { connector } = await ready(up)
  const { ask, asked } = person('{"action":"decline"}')
  expect(await call(connector, 'insatiable', {}, { elicitation: FORM, ask })).toMatchObject({
    kind: 'failed',
    code: 'outcome_unknown',
    ran: 'maybe',
  })
  expect(asked).toHaveLength(8)
  expect(new Set(up.ledger.map((run) => run.id)).size).toBe(9)
})

test('a modern upstream that asks for something else than a person has failed', async () => {
  const up = await upstream({ era: 'modern' })
  const { connector } = await ready(up)
  const answer = await call(
    connector,
    'insatiable',
    { method: 'sampling/createMessage' },
    { elicitation: FORM, ask: person(undefined).ask },
  )
  expect(answer).toMatchObject({ kind: 'failed', code: 'outcome_unknown' })
  expect(up.ledger).toHaveLength(1)
})

test('a legacy upstream that asks outside the call is answered too, by the caller whose session it is', async () => {
  const up = await upstream({ era: 'legacy', sessions: true })
  const { connector } = await ready(up)
  const people = ['a', 'b'].map((caller) => ({
    caller,
    ...person(`{"action":"accept","content":{"name":"${caller}"}}`),
  }))
  const answers = await Promise.all(
    people.map(({ caller, ask }) => call(connector, 'elicit_aside', {}, { caller, elicitation: FORM, ask })),
  )
  expect(answers.map((answer) => heard('legacy', textOf(answer)))).toEqual([
    { action: 'accept', content: { name: 'a' } },
    { action: 'accept', content: { name: 'b' } },
  ])
  for (const { asked } of people) expect(asked).toHaveLength(1)
})
