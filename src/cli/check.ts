/**
 * The work of `tollgate check`: loads all that `serve` would load, asks the upstreams for their tools, and prints what each role gets.
 * It starts no gateway, touches no database and makes no secret.
 * @module
 */
import { connectors as catalogue } from '../../connectors/index.ts'
import { type Config, loadConfig } from '../config/config.ts'
import { type DeclaredRow, declaredRows } from '../connector/declared.ts'
import { createMcpConnector } from '../connector/mcp/upstream.ts'
import { createWarden } from '../connector/mcp/warden.ts'
import { createRegistry, type Registry } from '../connector/registry.ts'
import { VERSION } from '../version.ts'
import { type ConnectorReport, type RoleReport, reportConnectors, reportRoles } from './check-report.ts'
import { hostConnectors, hostSurroundings } from './check-native.ts'
import { table } from './output.ts'

/** The longest that upstreams are waited for: their own deadlines for connecting and for listing, and a little. */
const DEADLINE_MS = 22_000

/** Loads and asks. */
export async function check(env: NodeJS.ProcessEnv, offline: boolean): Promise<{ report: Report; lines: string[] }> {
  const config = loadConfig(withoutSecrets(env))
  const connectors = offline ? undefined : await upstreams(config)
  try {
    const registry = connectors ?? createRegistry([], hostConnectors(config))
    const report = {
      ok: registry.all().every((connector) => connector.state().state === 'ready'),
      policies: config.policyFolder,
      ownerBrand: config.ownerBrand,
      notices: config.notices,
      connectors: reportConnectors(config, registry),
      declared: declaredRows(
        catalogue,
        new Set([...registry.all(), ...registry.connectors(config.ownerBrand)].map(({ slug }) => slug)),
        hostSurroundings(config),
      ),
      roles: reportRoles(config, registry),
    }
    return { report, lines: text(report, config, offline) }
  } finally {
    await connectors?.close()
  }
}

/** `loadConfig` makes the secrets it does not find; a check leaves nothing behind. */
function withoutSecrets(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const standIn = 'stands-in-for-one-that-serve-makes'
  return {
    ...env,
    TOLLGATE_ADMIN_KEY: env.TOLLGATE_ADMIN_KEY || standIn,
    TOLLGATE_SECRET: env.TOLLGATE_SECRET || standIn,
  }
}

/** The configured upstreams, each connected or given up. Closing it ends their processes too. */
async function upstreams(config: Config): Promise<Registry> {
  const log = { info: () => {}, warn: () => {} }
  const warden = createWarden({ log })
  let wake = () => {}
  const parts = { log, warden, clientInfo: { name: 'tollgate', version: VERSION }, changed: () => wake() }
  const registry = createRegistry(
    config.servers.map((entry) => createMcpConnector(entry, parts)),
    hostConnectors(config),
  )
  const isWaiting = () => registry.all().some((connector) => connector.state().state === 'connecting')
  const until = performance.now() + DEADLINE_MS
  while (isWaiting() && performance.now() < until) {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, 200)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
  registry.changed()
  return {
    ...registry,
    async close() {
      await registry.close()
      warden.close()
    },
  }
}

/** All that was found. Not `ok` where an upstream does not answer. */
export interface Report {
  readonly ok: boolean
  readonly policies: string
  readonly ownerBrand: string
  readonly notices: readonly string[]
  readonly connectors: readonly ConnectorReport[]
  /** Connectors of the catalogue that register nothing, each tool with the reason. */
  readonly declared: readonly DeclaredRow[]
  readonly roles: readonly RoleReport[]
}

function text(report: Report, { roles, routes, servers }: Config, offline: boolean): string[] {
  const lines = [
    `Policies: ${report.policies} (${roles.size} roles; routes ${[...routes.keys()].join(', ')}).`,
    `Owner's brand: ${report.ownerBrand}. Upstreams: ${servers.length}${offline ? ', not connected to (--offline)' : ''}.`,
    ...report.notices.map((notice) => `Notice: ${notice}`),
  ]
  for (const connector of report.connectors) lines.push('', ...connectorText(connector))
  lines.push('', 'Declared, nothing registered:')
  for (const { slug, detail, withheld } of report.declared)
    lines.push(`  ${slug} (${withheld.length} tools): ${detail}`)
  for (const role of report.roles) lines.push('', ...roleText(role))
  return lines
}

function connectorText({ slug, state, detail, tools, withheld, unmatched }: ConnectorReport): string[] {
  const lines = [`Connector ${slug}: ${state}. ${detail}`]
  if (tools.length > 0) {
    const rows = tools.map(({ name, access, ask, grantable, because }) => [
      name,
      access,
      [ask ? 'asks' : '', grantable ? 'grantable' : ''].filter((word) => word !== '').join(', '),
      because,
    ])
    lines.push(indented(table(['TOOL', 'ACCESS', 'MORE', 'BECAUSE'], rows)))
  }
  for (const row of withheld) lines.push(`  Withheld ${row.tool}: ${row.reason}`)
  for (const pattern of unmatched) lines.push(`  The pattern ${JSON.stringify(pattern)} matches no tool.`)
  return lines
}

function roleText(role: RoleReport): string[] {
  const { name, describes, builtins, platform, tools, limits, asksPerson } = role
  const figures = Object.entries(limits).map(([limit, figure]) => `${limit} ${figure}`)
  const lines = [
    `Role ${name}: ${describes}`,
    `  Asks a person: ${asksPerson ? 'yes' : 'no one to ask'}. Connectors: ${role.connectors}. Tools it is ${role.given === 'all' ? 'given without asking' : 'given only as asked for'}.`,
    `  Limits: ${figures.join(', ') || 'none of its own'}${role.limitsAre === 'usual' ? ' (where a profile states none)' : ''}.`,
    `  Built-ins: ${builtins.join(', ') || 'none'}.`,
  ]
  for (const { connector, names, here } of platform) {
    lines.push(`  ${connector}${here ? '' : ' (not connected)'}: ${names.join(', ')}.`)
  }
  if (tools.length > 0) {
    const rows = tools.map(({ name, access, effect, code }) => [name, access, code ?? effect])
    lines.push(indented(table(['TOOL', 'ACCESS', 'EACH CALL'], rows)))
  } else {
    lines.push('  Tools of the upstreams: none.')
  }
  return lines
}

const indented = (block: string): string => block.replace(/^/gm, '  ')
