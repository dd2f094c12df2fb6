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

/** The doors of the gateway that are run: the connector's name, and what its upstream speaks. */
const DOORS = { fixture: 'an upstream of both eras', 'fixture-legacy': 'an upstream of the older era' }

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
    for (const door of Object.keys(DOORS) as (keyof typeof DOORS)[]) await runDoor(revision, door, direct)
  }
} finally {
  proxy.close()
  await gateway.close()
  await fixture.close()
}
console.log(failed ? '\nConformance: not as expected.' : '\nConformance: as expected.')
process.exitCode = failed ? 1 : 0

async function runDoor(revision: Revision, door: keyof typeof DOORS, direct: SuiteRun): Promise<void> {
  const file = join(import.meta.dirname, `gateway-${revision}.yml`)
  const baseline = await readBaseline(file)
  const through = await runSuite(`${front}/mcp/${door}`, revision, file)
  const { rows, unexpected, stale } = compare(direct.findings, through.findings, baseline)
  console.log(
    `\n${revision}, through the gateway to ${DOORS[door]}: ${sumOf(through)}, ${baseline.size} baseline entries`,
  )
  print(rows)
  complain('Lost on the way, and in no baseline:', unexpected)
  complain(`Entries of ${file} that nothing needs:`, stale)
  if (!through.accepted) complain("The suite's own verdict:", [through.printed])
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
    const offered = direct.failed === 0 || direct.passed > direct.failed
    const note = first === undefined ? (offered ? '' : 'not offered by the fixture') : (first.expected ?? 'UNEXPECTED')
    line(scenario, share(direct), share(through), note)
  }
}

function share({ passed, failed: bad }: Count): string {
  return `${passed}/${passed + bad}`
}
