/**
 * `npm run clients:claude`: the real Claude Code, headless, against a real gateway and a stand-in model. It installs the
 * client from npm into a temporary folder (`--claude FILE` takes one that is there), prints a line for each scene and
 * `N passed, N failed`, and exits with 1 when one failed. Takes about two minutes; nothing leaves this machine but the install.
 * @module
 */
import { parseArgs } from 'node:util'
import { startGateway } from '../../support/gateway.ts'
import { startUpstream, tool } from '../../support/upstream.ts'
import { getClient } from './client.ts'
import { startModel } from './model.ts'
import { SCENES } from './scenes.ts'
import { createStage } from './stage.ts'

const { values } = parseArgs({ options: { claude: { type: 'string' }, only: { type: 'string' } } })

const upstream = await startUpstream({ tools: [tool('echo'), tool('increment')] })
const gateway = await startGateway(
  { box: { type: 'http', url: upstream.url, tools: { echo: 'read', increment: 'write' } } },
  { TOLLGATE_APPROVAL_WAIT_MS: '2000' },
)
// A gateway that holds calls longer than the client waits for a first byte.
const patient = await startGateway(
  { box: { type: 'http', url: upstream.url, tools: { increment: 'write' } } },
  { TOLLGATE_APPROVAL_WAIT_MS: '120000' },
)
const client = await getClient(values.claude)
console.log(`Claude Code: ${client.version}`)
let passed = 0
let failed = 0
try {
  await Promise.all([gateway.running.settled(10_000), patient.running.settled(10_000)])
  const play = async ({ name, patient: holds, scene }: (typeof SCENES)[number]): Promise<void> => {
    const model = await startModel()
    const problem = await scene(createStage(holds === true ? patient : gateway, upstream, client, model)).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    model.close()
    if (problem === undefined) passed++
    else failed++
    console.log(
      `${problem === undefined ? 'PASS' : 'FAIL'} ${name}${problem === undefined ? '' : `\n     ${String(problem)}`}`,
    )
  }
  const chosen = SCENES.filter(({ name }) => name.includes(values.only ?? ''))
  const quick = async (): Promise<void> => {
    for (const one of chosen) if (one.patient !== true) await play(one)
  }
  // Those that hold for a minute wait side by side with the rest.
  await Promise.all([quick(), ...chosen.filter(({ patient: holds }) => holds === true).map(play)])
} finally {
  await client.close()
  await gateway.close()
  await patient.close()
  await upstream.close()
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0
