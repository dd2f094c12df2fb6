/**
 * C2: PostgreSQL is killed with all its backends, and started again, under the same load.
 * @module
 */
import type { PostgresServer } from '../support/postgres.ts'
import { eventually, pause, textOf } from '../support/replica.ts'
import type { Deployment } from './deployment.ts'
import type { Random } from './random.ts'

/** The longest that the wait for a gateway may take before the run gives up on it. */
const PATIENCE_MS = 30_000

/** How long after PostgreSQL took connections again each gateway served, in milliseconds, one figure a kill: the slower. */
export async function killDatabase(
  server: PostgresServer,
  { replicas }: Deployment,
  random: Random,
  count: number,
  say: (line: string) => void,
): Promise<number[]> {
  const { token } = await replicas[0].issue()
  const took: number[] = []
  while (took.length < count) {
    await pause(random.between(300, 2_500))
    await server.kill()
    await pause(random.between(0, 1_500))
    await server.start()
    const from = performance.now()
    await Promise.all(
      replicas.map(async (replica) => {
        const ready = () => replica.api('GET', '/readyz')
        await eventually(ready, ({ status }) => status === 200, PATIENCE_MS)
        const works = () => replica.call(token, 'up__echo', { kill: took.length })
        await eventually(works, (answer) => textOf(answer) !== undefined, PATIENCE_MS)
      }),
    )
    took.push(performance.now() - from)
    say(`PostgreSQL killed ${took.length} of ${count}; served ${Math.round(took.at(-1)!)} ms after its return`)
  }
  return took
}
