/**
 * Starts and stops the gateway.
 * @module
 */
import { pino } from 'pino'
import { createApp } from './app.ts'
import { type Config, loadConfig } from './config/config.ts'
import { closeInherited } from './connector/mcp/descriptors.ts'
import { listen } from './http/server.ts'

/** A gateway that listens. */
export interface Running {
  /** The public URL, with the port in use. */
  readonly url: string
  readonly config: Config
  /** What a person needs next, as text. */
  readonly banner: string
  /** Waits until every upstream is ready or has failed once, up to `ms`. */
  settled(ms: number): Promise<void>
  close(): Promise<void>
}

/** Starts a gateway from the environment. Throws ConfigError, or an error with the sentence that mends it. */
export async function serve(env: NodeJS.ProcessEnv): Promise<Running> {
  closeInherited()
  const config = loadConfig(env)
  const log = pino({ level: config.logLevel, base: { name: 'tollgate' } }, pino.destination({ dest: 2, sync: false }))
  for (const notice of config.notices) log.warn(notice)
  const app = await createApp(config, log)
  const address = await listen(app.server, config.port, config.host).catch(async (problem: NodeJS.ErrnoException) => {
    await app.close()
    if (problem.code !== 'EADDRINUSE') throw problem
    throw new Error(`Port ${config.port} is in use. Set PORT to another one, or stop what listens there.`)
  })
  await app.settled(1_500)
  return {
    url: config.publicUrl,
    config,
    banner: bannerOf(config, app.database, address.port, app.upstreams()),
    settled: app.settled,
    close: app.close,
  }
}

type Upstreams = ReturnType<Awaited<ReturnType<typeof createApp>>['upstreams']>

function bannerOf(config: Config, database: 'pglite' | 'postgres', port: number, upstreams: Upstreams): string {
  const { publicUrl, adminKey, dataFolder } = config
  const key = adminKey.path === undefined ? '$TOLLGATE_ADMIN_KEY' : `$(cat ${shellWord(adminKey.path)})`
  const where =
    adminKey.path === undefined
      ? 'as set in TOLLGATE_ADMIN_KEY'
      : `in ${adminKey.path}${adminKey.generated ? ' (just made)' : ''}`
  const data =
    database === 'postgres'
      ? 'PostgreSQL, from DATABASE_URL'
      : `embedded, in ${dataFolder} (for one process; set DATABASE_URL for PostgreSQL)`
  const rows = upstreams.map(({ slug, state, detail, tools }) =>
    state === 'ready' ? `    ${slug}: ${tools} tools` : `    ${slug}: ${state}. ${detail}`,
  )
  return [
    `Tollgate listens on ${config.host}:${port}.`,
    '',
    `  MCP endpoint   ${publicUrl}/mcp`,
    `  Admin key      ${where}`,
    `  Database       ${data}`,
    `  Inbox          ${publicUrl}/inbox`,
    rows.length === 0
      ? '  Upstreams      none yet: name some under mcpServers in a file and set TOLLGATE_CONFIG to it'
      : '  Upstreams',
    ...rows,
    '',
    '  Issue a session token:',
    `    curl -s ${publicUrl}/v1/sessions -H "Authorization: Bearer ${key}" \\`,
    `      -H 'Content-Type: application/json' -d '{"role":"person-chat","approval":{"channel":"inbox"}}'`,
    '',
    '  Point Claude Code at it:',
    `    claude mcp add --transport http gateway ${publicUrl}/mcp --header 'Authorization: Bearer \${GATEWAY_TOKEN}'`,
    '',
  ].join('\n')
}

/** A text as one word of a POSIX shell, quoted only where it must be. */
const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
