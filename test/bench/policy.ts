/**
 * `npm run bench:policy`: what one decision and one view cost, beside parsing a small request in the same run.
 * @module
 */
import { hash } from 'node:crypto'
import { decide } from '../../src/policy/decide.ts'
import { compileView } from '../../src/policy/view.ts'
import type { Role, Session, Tool } from '../../src/policy/words.ts'

const ROUNDS = 9
const tools: Tool[] = Array.from({ length: 150 }, (_, i) => ({
  name: `mcp__c${i % 10}__tool_${i}`,
  connector: `c${i % 10}`,
  access: i % 3 === 0 ? 'write' : 'read',
  ask: false,
  grantable: i % 3 !== 0,
}))
const role: Role = {
  name: 'person-chat',
  title: '',
  describes: '',
  asksPerson: true,
  builtins: ['Read'],
  holds: tools.slice(0, 30).map(({ name }) => name),
  connectors: 'every',
  given: 'all',
  limits: {},
}
const session: Session = {
  id: 's',
  issuer: 'i',
  subject: 'u',
  brand: 'b',
  role,
  route: { name: 'standard', describes: '', keeps: 'everything', connectors: true },
  ceiling: Array.from({ length: 10 }, (_, i) => `mcp__c${i}__*`),
  grant: { connectors: [], skills: [], allowance: {} },
  channel: 'inbox',
  limits: {},
  issuedAt: 0,
  expiresAt: 1,
  viewKey: 'k',
}
const supply = {
  tools,
  builtins: ['Read', 'Bash'],
  mark: ({ name }: Tool) => name,
  hash: (text: string) => hash('sha256', text, 'hex'),
}
const facts = {
  sessionLive: true,
  holding: { held: true, reasons: [{ rule: 'role-holds', because: 'It is listed.' }] },
  approvalsOn: true,
  channel: 'inbox',
  approvedFingerprint: undefined,
} as const
const request =
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"c1__tool_1","arguments":{"query":"x"}}}'

const read = { tool: tools[1] as Tool, fingerprint: 'f' }
const write = { tool: tools[0] as Tool, fingerprint: 'f' }
const rows: Array<readonly [string, number, number | undefined]> = [
  ['decide, a read', microseconds(() => decide(read, facts), 200_000), 5],
  ['decide, a write that asks', microseconds(() => decide(write, facts), 200_000), 5],
  ['compile a view of 150 tools', microseconds(() => compileView(session, supply), 300), 1000],
  ['JSON.parse of a small request', microseconds(() => JSON.parse(request), 200_000), undefined],
]
const yardstick = rows.at(-1)?.[1] as number
console.log('| what | µs | × JSON.parse of a small request | must be under, µs |\n| --- | --: | --: | --: |')
for (const [what, took, most] of rows) {
  console.log(`| ${what} | ${took.toFixed(2)} | ${(took / yardstick).toFixed(1)} | ${most ?? '–'} |`)
}

/** The median over rounds of what one run of `work` takes. */
function microseconds(work: () => unknown, times: number): number {
  const found: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const started = performance.now()
    for (let i = 0; i < times; i++) work()
    found.push(((performance.now() - started) * 1000) / times)
  }
  return found.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] as number
}
