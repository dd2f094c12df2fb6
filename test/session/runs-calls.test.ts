import { afterAll, beforeAll, expect, it } from 'vitest'
import { createCallCounts } from '../../src/session/calls.ts'
import { freshDatabase, type TestDatabase } from '../support/database.ts'
import { runsOn } from './run-world.ts'

let database: TestDatabase
let runs: ReturnType<typeof runsOn>
beforeAll(async () => {
  database = await freshDatabase()
  runs = runsOn(database.db)
})
afterAll(async () => {
  await runs.audit.close()
  await database.close()
})

it.each([0, 1, 7, 50, 51, 120])(
  'a session may make exactly %i calls, however they are spread over replicas',
  async (most) => {
    const { session } = await runs.start({})
    const replicas = [createCallCounts(database.db, most), createCallCounts(database.db, most)]
    const takes = Array.from({ length: most + 40 }, (_, n) => replicas[n % 3 === 0 ? 1 : 0]!.take(session.id))
    expect((await Promise.all(takes)).filter((taken) => taken)).toHaveLength(most)
    expect(await replicas[0]!.take(session.id)).toBe(false)
  },
)

it('a block is counted down without asking the database', async () => {
  const { session } = await runs.start({})
  const counts = createCallCounts(database.db, 500)
  expect(await counts.take(session.id)).toBe(true)
  expect(Array.from({ length: 9 }, () => counts.take(session.id))).toEqual(Array.from({ length: 9 }, () => true))
  expect(counts.take(session.id)).toBeInstanceOf(Promise)
})

it('a session that was forgotten loses at most the rest of a block', async () => {
  const { session } = await runs.start({})
  const counts = createCallCounts(database.db, 500)
  let made = 0
  for (let i = 0; i < 3; i++) {
    if (await counts.take(session.id)) made++
    counts.forget(session.id)
  }
  while (await counts.take(session.id)) made++
  expect(made).toBe(500 - 3 * 9)
})

it('nothing is left of a session that is not on record', async () => {
  const counts = createCallCounts(database.db, 5)
  expect(await counts.take('none')).toBe(false)
})

it('who cannot ask lets nothing through', async () => {
  const { session } = await runs.start({})
  const gone = { ...database.db, orm: undefined as never }
  await expect(async () => createCallCounts(gone, 5).take(session.id)).rejects.toThrow()
})
