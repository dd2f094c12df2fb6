/**
 * `npm test`: everything once with PGlite, then what touches a database again on a real PostgreSQL, and one line of sums.
 * @module
 */
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The rooms whose tests run on both databases. */
const ON_BOTH = ['audit', 'session', 'approvals', 'http', 'bugbank']

interface Sums {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numFailedTestSuites: number
}

const folder = await mkdtemp(join(tmpdir(), 'tollgate-results-'))
const filters = ON_BOTH.map((room) => `test/${room}/`)
const runs = [
  await vitest('everything, on PGlite', ['run'], {}),
  await vitest('on PostgreSQL', ['run', '--project', 'fast', ...filters], { TOLLGATE_TEST_DATABASE: 'postgres' }),
]
await rm(folder, { recursive: true, force: true })
const sum = (key: keyof Sums): number => runs.reduce((total, run) => total + run[key], 0)
const failed =
  sum('numFailedTests') + runs.filter((run) => run.numFailedTestSuites > 0 && run.numFailedTests === 0).length
const skipped = sum('numPendingTests')
console.log(`\n${sum('numPassedTests')} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`)
process.exitCode = failed === 0 ? 0 : 1

async function vitest(title: string, args: string[], env: Record<string, string>): Promise<Sums> {
  console.log(`\n=== ${title}`)
  const results = join(folder, `${args.length}.json`)
  const program = join(import.meta.dirname, '..', 'node_modules', 'vitest', 'vitest.mjs')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${results}`]
  const child = spawn(process.execPath, [program, ...args, ...reporters], {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  })
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
  try {
    const sums = JSON.parse(await readFile(results, 'utf8')) as Sums
    // An error outside any test fails the run too.
    return code === 0 || sums.numFailedTests > 0 ? sums : { ...sums, numFailedTestSuites: sums.numFailedTestSuites + 1 }
  } catch {
    return { numPassedTests: 0, numFailedTests: 1, numPendingTests: 0, numFailedTestSuites: 1 }
  }
}
