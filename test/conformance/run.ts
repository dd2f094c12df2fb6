/**
 * `npm run conformance`: the official suite against the fixture upstream, then against the gateway in front of it, for
 * each revision and each era of the upstream. Exits with 1 if something is lost on the way that no baseline expects.
 * @module
 */
import { join } from 'node:path'
import { freePort, startGateway } from '../support/gateway.ts'
import { readBaseline } from './baseline.ts'
import { compare, count, type Count, type Row } from './compare.ts'
import { startFixture } from './fixture/serve.ts'
import { startProxy } from './proxy.ts'
import { REVISIONS, type Revision, runSuite, type SuiteRun } from './suite.ts'

/** A door of the gateway: its connector, and what fails there besides. */
interface Door {
  readonly connector: string
  readonly upstream: string
  readonly besides: Partial<Record<Revision, string>>
}

const DOORS: readonly Door[] = [
  { connector: 'fixture', upstream: 'an upstream of both eras', besides: {} },
  {
    connector: 'fixture-legacy',
    upstream: 'an upstream of the older era',
    besides: { '2026-07-28': 'gateway-2026-07-28-legacy.yml' },
  },
]

let failed = false

function complain(title: string, lines: readonly string[]): void {
  if (lines.length === 0) return
  failed = true
  console.log(`\n${title}\n${lines.map((line) => `  ${line}`).join('\n')}`)
}

const fixture = await startFixture()
const open = { type: 'http', tools: { '*': 'read' } }
const servers = {
  fixture: { ...open, url: fixture.url },
  'fixture-legacy': { ...open, url: fixture.legacyUrl },
}
const port = await freePort()
// The suite sends the proxy's own address as Origin.
const front = `http://127.0.0.1:${port}`
const gateway = await startGateway(servers, {}, { allowedOrigins: [front] })
await gateway.running.settled(10_000)
const token = await gateway.token({ role: 'person-chat', approval: { channel: 'inbox' } })
const proxy = await startProxy(port, gateway.url, `Bearer ${token}`)
try {
  for (const revision of REVISIONS) {
    const direct = await runSuite(fixture.url, revision)
    console.log(`\n${revision}, direct: ${sumOf(direct)}`)
    if (!direct.accepted) complain('The fixture fails what the revision requires:', [direct.printed])
    for (const door of DOORS) await runDoor(revision, door, direct)
  }
} finally {
  proxy.close()
  await gateway.close()
  await fixture.close()
}
console.log(failed ? '\nConformance: not as expected.' : '\nConformance: as expected.')
// A question that no scenario answers may still hold a timer.
process.exit(failed ? 1 : 0)

async function runDoor(revision: Revision, door: Door, direct: SuiteRun): Promise<void> {
  const folder = import.meta.dirname
  const file = join(folder, `gateway-${revision}.yml`)
  const besides = door.besides[revision]
  const baseline = new Map([
    ...(await readBaseline(file)),
    ...(besides === undefined ? [] : await readBaseline(join(folder, besides))),
  ])
  const through = await runSuite(`${front}/mcp/${door.connector}`, revision, file)
  const { rows, unexpected, stale } = compare(direct.findings, through.findings, baseline)
  console.log(
    `\n${revision}, through the gateway to ${door.upstream}: ${sumOf(through)} (${baseline.size} in baseline)`,
  )
  print(rows)
  complain('Lost on the way, and in no baseline:', unexpected)
  complain('Baseline entries that nothing needs:', stale)
  // The suite takes one file, and scores less than is compared above.
  if (besides === undefined && !through.accepted) complain("The suite's own verdict:", [through.printed])
}

function sumOf({ findings }: SuiteRun): string {
  const counts = [...findings.values()].map(count)
  const total = (key: keyof Count): number => counts.reduce((sum, one) => sum + one[key], 0)
  return `${total('passed')} checks passed, ${total('failed')} failed`
}

function print(rows: readonly Row[]): void {
  const line = (scenario: string, direct: string, gateway: string, note: string): void =>
    console.log(`  ${scenario.padEnd(46)} ${direct.padEnd(8)} ${gateway.padEnd(8)} ${note}`.trimEnd())
  line('scenario', 'direct', 'gateway', '')
  for (const { scenario, direct, gateway: through, lost } of rows) {
    const [first] = lost
    const missed = lost.find(({ expected }) => expected === undefined)
    const kept = direct.failed === 0 ? '' : 'fails directly too'
    const note = missed === undefined ? (first?.expected ?? kept) : 'UNEXPECTED'
    line(scenario, share(direct), share(through), note)
  }
}

function share({ passed, failed: bad }: Count): string {
  return `${passed}/${passed + bad}`
}
