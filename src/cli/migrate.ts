/**
 * `tollgate migrate`: brings the database up to this program, without starting the gateway.
 * @module
 */
import type { Command } from 'commander'
import { local } from './options.ts'
import { type Io, print, printJson } from './output.ts'

/** Adds the command. What it runs is loaded when it runs, so that other commands start at once. */
export function addMigrate(program: Command, io: Io): void {
  local(program, 'migrate', 'bring the database up to date; "serve" does so by itself').action(
    async ({ json }: { json?: true }) => {
      const [{ loadConfig }, { connect }, { migrate }] = await Promise.all([
        import('../config/config.ts'),
        import('../db/connect.ts'),
        import('../db/migrate.ts'),
      ])
      const { databaseUrl, dataFolder } = loadConfig(io.env)
      const line = (_facts: object, message: string) => io.stderr.write(`${message}\n`)
      const log = { debug: () => {}, info: () => {}, warn: line, error: line }
      const db = await connect({ url: databaseUrl, folder: dataFolder, log })
      try {
        const applied = await migrate(db)
        if (json) printJson(io, { applied })
        else print(io, applied.length === 0 ? 'The database is up to date.' : `Applied: ${applied.join(', ')}.`)
      } finally {
        await db.close()
      }
    },
  )
}
