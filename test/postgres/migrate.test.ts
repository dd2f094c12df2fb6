import { expect, test } from 'vitest'
import { connect, type Database, rows } from '../../src/db/connect.ts'
import { migrate } from '../../src/db/migrate.ts'
import { barePostgres, quiet } from '../support/database.ts'

test('twenty processes migrating one empty database at once apply each file once, and a second time does nothing', async () => {
  const bare = await barePostgres()
  const dbs: Database[] = []
  try {
    for (let i = 0; i < 20; i++) dbs.push(await connect({ url: bare.url, folder: '', log: quiet }))
    const applied = await Promise.all(dbs.map((db) => migrate(db)))
    expect(applied.flat()).toContain('0001_gateway.sql')
    expect(new Set(applied.flat()).size).toBe(applied.flat().length)
    expect(rows(await dbs[0]!.orm.execute('select name from migrations order by name'))).toEqual(
      applied
        .flat()
        .sort()
        .map((name) => ({ name })),
    )
    expect(await migrate(dbs[0]!)).toEqual([])
  } finally {
    await Promise.all(dbs.map((db) => db.close()))
    await bare.close()
  }
})
