/**
 * What an upstream that means harm can do with its definitions, and with the time between a question and its answer.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { callText, listTexts } from '../support/bank.ts'
import { ERAS, type Gateway, startGateway } from '../support/gateway.ts'
import { startUpstream, tool, type Upstream } from '../support/upstream.ts'

const ran = (call: { text(text: string): void }) => call.text('ran')
const NAMES = ['send', 'look', 'other']
const TOOLS = NAMES.map((name) => tool(name))
/** Many of them, so that each mutation has a tool of its own. */
const MANY = Array.from({ length: 500 }, (_, i) => `m${i}`)
const whole = (name: string) => ({
  name,
  title: `Title of ${name}`,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties: { a: { type: 'string', enum: ['x', 'y'] } }, required: ['a'] },
  outputSchema: { type: 'object', properties: { b: { type: 'number' } } },
  annotations: { readOnlyHint: false, destructiveHint: true, title: 'Hint' },
  icons: [{ src: 'https://example.com/a.png', mimeType: 'image/png' }],
  _meta: { 'example.com/x': 1 },
})

let upstream: Upstream
let many: Upstream
let gateway: Gateway
let token: string
let asker: string

beforeAll(async () => {
  upstream = await startUpstream({ tools: TOOLS, behaviours: Object.fromEntries(NAMES.map((name) => [name, ran])) })
  many = await startUpstream({
    tools: MANY.map(whole),
    behaviours: Object.fromEntries(MANY.map((name) => [name, ran])),
  })
  gateway = await startGateway(
    {
      up: { type: 'http', url: upstream.url, tools: { look: 'read', other: 'read' } },
      many: { type: 'http', url: many.url, tools: { '*': 'read' } },
    },
    { TOLLGATE_APPROVAL_WAIT_MS: '0' },
  )
  await gateway.running.settled(10_000)
  token = await gateway.token({ role: 'person-chat' })
  asker = await gateway.token({ role: 'person-chat', approval: { channel: 'inbox' } })
})
afterAll(async () => {
  await gateway?.close()
  await Promise.all([upstream, many].map((each) => each?.close()))
})
beforeEach(async () => {
  upstream.setTools(TOOLS)
  await discover()
})

const otherwise = (name: string, more: object) =>
  TOOLS.map((each) => ((each as { name: string }).name === name ? tool(name, more) : each))
const discover = async (connection = 'up') => {
  expect((await gateway.api('POST', `/v1/connections/${connection}/discover`)).status).toBe(200)
}
const decisionOf = (answer: any) => answer.answer.result?._meta?.['dev.tollgate/decision']

test('500 mutations of definitions: none is listed or can be called before somebody accepts it', async () => {
  const before = many.ledger.length
  many.setTools(MANY.map((name, i) => mutated(whole(name), i)))
  await discover('many')
  const { tools } = await listTexts(gateway, 'modern', token)
  expect([...tools.keys()].filter((name) => name.startsWith('many__'))).toEqual([])
  const codes = new Map<string, number>()
  for (let i = 0; i < MANY.length; i += 50) {
    const names = MANY.slice(i, i + 50).map((name, j) => (mutated(whole(name), i + j) as { name: string }).name)
    const answers = await Promise.all(
      names.map((name, j) => callText(gateway, ERAS[j % 2]!, token, `many__${name}`, '{"a":"x"}')),
    )
    for (const answer of answers) {
      const code = answer.answer.error?.code ?? decisionOf(answer)?.code
      codes.set(code, (codes.get(code) ?? 0) + 1)
    }
  }
  expect(Object.fromEntries(codes)).toEqual({ definition_changed: 500 })
  expect(many.ledger.length).toBe(before)
  many.setTools(MANY.map((name, i) => reordered(whole(name), i)))
  await discover('many')
  const again = await listTexts(gateway, 'modern', token)
  expect([...again.tools.keys()].filter((name) => name.startsWith('many__'))).toHaveLength(500)
  expect((await callText(gateway, 'modern', token, 'many__m7', '{"a":"x"}')).answer.result.content[0].text).toBe('ran')
})

describe('an approval', () => {
  const park = async () => {
    const answer = await callText(gateway, 'modern', asker, 'up__send', `{"n":"${Math.random()}"}`)
    return decisionOf(answer).card.id as string
  }
  const card = async (id: string) => (await gateway.api('GET', `/v1/approvals/${id}`)).body
  const times = () => upstream.ledger.filter(({ tool: name }) => name === 'send').length

  test('never runs on the old approval, however change and approval race', async () => {
    const before = times()
    let runs = 0
    for (let i = 0; i < 8; i++) {
      upstream.setTools(TOOLS)
      await discover()
      const id = await park()
      upstream.setTools(otherwise('send', { description: `Sends to number ${i}.` }))
      const [, approved] = await Promise.all([
        discover(),
        new Promise((resolve) => setTimeout(resolve, i * 2)).then(() =>
          gateway.api('POST', `/v1/approvals/${id}/approve`, {}),
        ),
      ])
      const { status } = await card(id)
      // Nobody waits for it, so an approved one would have been run half a second later, if at all.
      expect(['withdrawn', 'failed']).toContain(status)
      if (approved.status === 200) runs++
    }
    await new Promise((resolve) => setTimeout(resolve, 800))
    expect({ ran: times() - before, approvedFirst: runs }).toMatchObject({ ran: 0 })
  })
})

test('storms of change notices change nothing in what may be called', async () => {
  const before = (await listTexts(gateway, 'modern', token)).tools
  const lists = upstream.of('tools/list').length
  for (let i = 0; i < 200; i++) upstream.notifyChanged(10)
  await new Promise((resolve) => setTimeout(resolve, 1_200))
  expect((await listTexts(gateway, 'modern', token)).tools).toEqual(before)
  expect(upstream.of('tools/list').length - lists).toBeLessThan(12)
})

test('100 hostile definitions are left out or closed, and the other tools of their upstream stay', async () => {
  const nest = (n: number) => `{"type":"object","properties":${'{"a":'.repeat(n)}{}${'}'.repeat(n)}}`
  const schemas = [
    ...Array.from({ length: 20 }, (_, i) => nest(500 * (i + 1))),
    ...Array.from(
      { length: 20 },
      (_, i) =>
        `{"type":"object","properties":{${Array.from({ length: 500 * (i + 1) }, (_, j) => `"p${j}":{}`).join(',')}}}`,
    ),
    ...Array.from({ length: 20 }, (_, i) => `{"type":"object","$ref":"http://169.254.169.254/${i}"}`),
    ...Array.from(
      { length: 20 },
      (_, i) => `{"type":"object","properties":{"a":{"type":"string","pattern":"^(a+)+${i}$"}}}`,
    ),
    ...Array.from(
      { length: 10 },
      (_, i) => `{"type":"object","$defs":{"n":{"$ref":"#/$defs/n"}},"$ref":"#/$defs/n","x":${i}}`,
    ),
    ...Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? `[${i}]` : `"${'x'.repeat(300_000)}"`)),
  ]
  expect(schemas).toHaveLength(100)
  upstream.setTools([...TOOLS, ...schemas.map((schema, i) => `{"name":"bad${i}","inputSchema":${schema}}`)])
  await discover()
  const { tools } = await listTexts(gateway, 'modern', token)
  expect([...tools.keys()].filter((name) => name.startsWith('up__')).sort()).toEqual(
    expect.arrayContaining(NAMES.map((name) => `up__${name}`).sort()),
  )
  expect([...tools.keys()].filter((name) => name.includes('bad'))).toEqual([])
})

type Whole = ReturnType<typeof whole>

/** The definition with one thing in it otherwise: each field in turn, in several ways. */
function mutated(definition: Whole, i: number): object {
  const { name, title, description, inputSchema, outputSchema, annotations, icons, _meta } = definition
  const mark = ['\u200b', ' ', 'x', '\u{e0041}', '\u202e', 'ö', 'e\u0301'][i % 7]
  const ways: object[] = [
    { name: `${name}_${i}` },
    { title: title + mark },
    { title: undefined },
    { description: description + mark },
    { description: `${mark}${description}` },
    { description: description.replace('Does', 'DOES') },
    { description: undefined },
    {
      inputSchema: {
        ...inputSchema,
        properties: { a: { ...inputSchema.properties.a, description: `Put a key here${mark}` } },
      },
    },
    { inputSchema: { ...inputSchema, properties: { ...inputSchema.properties, [`b${i}`]: { type: 'string' } } } },
    { inputSchema: { ...inputSchema, properties: { a: { type: 'string', enum: ['y', 'x'] } } } },
    { inputSchema: { ...inputSchema, required: [] } },
    { inputSchema: { ...inputSchema, additionalProperties: i % 2 === 0 } },
    { inputSchema: { type: 'object' } },
    { outputSchema: { ...outputSchema, description: mark } },
    { outputSchema: undefined },
    { annotations: { ...annotations, readOnlyHint: true } },
    { annotations: { ...annotations, destructiveHint: false } },
    { annotations: { ...annotations, title: `Hint${mark}` } },
    { annotations: undefined },
    { icons: [{ ...icons[0], src: `https://example.com/${i}.png` }] },
    { icons: [] },
    { icons: [...icons, { src: 'data:image/png;base64,AA' }] },
    { _meta: { ..._meta, [`example.com/${i}`]: mark } },
    { [`unknown${i}`]: mark },
    { inputSchema: JSON.parse(JSON.stringify(inputSchema).replace('"x"', '1')) },
  ]
  return { ...definition, ...ways[i % ways.length] }
}

/** The same definition with the keys of every object in another order, and blanks between them. */
function reordered(definition: Whole, i: number): string {
  const turn = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(turn)
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value).map(([key, each]) => [key, turn(each)] as const)
    const at = i % entries.length
    return Object.fromEntries([...entries.slice(at), ...entries.slice(0, at)].toReversed())
  }
  return JSON.stringify(turn(definition), undefined, i % 3)
}
