/**
 * Environment and files in, one frozen Config out; or an error that lists every problem with the sentence that mends it.
 * No other room reads the environment: app.ts hands each what it needs.
 * @module
 */
import { type DataFile, readData } from '../policy/data-file.ts'
import type { Preset } from '../policy/presets.ts'
import { type Policies, readPolicies } from '../policy/role-file.ts'
import { readSwitches, type Switches } from '../policy/switches.ts'
import { readSettings, type Settings, strangers } from './env.ts'
import type { Env } from './expand.ts'
import { type ConfigFile, configFile } from './file-schema.ts'
import { readFile, readFolder, shippedPolicies } from './files.ts'
import { deepFreeze } from './freeze.ts'
import {
  type ConnectorOverride,
  type IssuerEntry,
  readAuthorizationServers,
  readConnectors,
  readHosts,
  readIssuers,
  readOrigins,
} from './hosts.ts'
import { readHostCredentials } from './host-credentials.ts'
import { readSecret, type Secret } from './secrets.ts'
import { readServers, type ServerEntry } from './servers.ts'
import { connectors as catalogue } from '../../connectors/index.ts'
import type { Values } from '../connector/native/values.ts'
import { presetsOf } from '../grants/presets.ts'

/** All that is set at the start, deeply frozen. Holds secrets: never to be logged whole. */
export interface Config extends Settings, Policies {
  /** `iss` and `aud` of session tokens: the public URL's MCP resource. */
  readonly resource: string
  readonly policyFolder: string
  readonly adminKey: Secret
  readonly secret: Secret
  readonly switches: Switches
  readonly servers: readonly ServerEntry[]
  readonly connectors: Readonly<Record<string, ConnectorOverride>>
  /** Credentials of native connectors in the environment, for the owner's brand. */
  readonly hostCredentials: Readonly<Record<string, Values>>
  readonly issuers: readonly IssuerEntry[]
  readonly allowedOrigins: readonly string[]
  readonly allowedHosts: readonly string[]
  /** For RFC 9728 metadata; empty where there is none. */
  readonly authorizationServers: readonly string[]
  readonly limits: ConfigFile['limits']
  /** Per connector, what its calls may cost unasked. */
  readonly spend: ConfigFile['spend']
  /** Where webhooks may go beyond public addresses. */
  readonly webhooks: ConfigFile['webhooks']
  /** Where a brand's own MCP servers may be beyond public addresses. */
  readonly connections: ConfigFile['connections']
  /** Starting points for coworkers, out of the policy folder. */
  readonly presets: readonly Preset[]
  /** Things worth saying at the start that do not stop it. */
  readonly notices: readonly string[]
}

/** The gateway cannot start from what it was given. `problems` are whole sentences, free of secrets. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(
      problems.length === 1
        ? problems[0]!
        : `${problems.length} problems:\n${problems.map((text) => `- ${text}`).join('\n')}`,
    )
    this.problems = problems
  }
}

/** Reads everything. Relative paths start from `folder`. Throws ConfigError; writes nothing unless all else is right. */
export function loadConfig(env: Env, folder: string = process.cwd()): Config {
  const problems: string[] = []
  const notices: string[] = []
  const used = new Set<string>()
  const settings = readSettings(env, folder, problems, notices)
  const { switches, problems: slips } = readSwitches(env)
  notices.push(...slips)

  const policyFolder = settings.policyFolder ?? shippedPolicies()
  const policyProblems: string[] = []
  const files = readFolder(policyFolder, 'TOLLGATE_POLICIES', policyProblems)
  const policies =
    policyProblems.length > 0 ? undefined : readPolicies(files, { sandbox: settings.environment === 'e2b' })
  if (policies?.ok) notices.push(...policies.notices)
  problems.push(...policyProblems, ...(policies?.ok === false ? policies.problems : []))
  const presets = policies?.ok ? presetsOf(files, catalogue) : undefined
  if (presets?.ok === false) problems.push(...presets.problems)

  const resource = `${settings.publicUrl}/mcp`
  const data = settings.configFile === undefined ? NOTHING : readFile(settings.configFile, 'TOLLGATE_CONFIG', problems)
  const written = data && readData(configFile, { ...data, value: data.value ?? {} })
  if (written?.ok === false) problems.push(...written.problems)
  const file = written?.ok ? written.value : configFile.parse({})
  const where = data ?? NOTHING
  const parts = {
    servers: readServers(file.mcpServers, where, { env, ownerBrand: settings.ownerBrand }, { problems, notices, used }),
    connectors: readConnectors(file, where, problems),
    hostCredentials: readHostCredentials(env, catalogue, notices),
    issuers: policies?.ok ? readIssuers(file, where, resource, [...policies.policies.roles.keys()], problems) : [],
    allowedOrigins: readOrigins(file, where, problems),
    allowedHosts: readHosts(file, where, problems),
    authorizationServers: readAuthorizationServers(file, where, problems),
    limits: file.limits,
    spend: file.spend,
    webhooks: file.webhooks,
    connections: file.connections,
    presets: presets?.ok ? presets.presets : [],
  }
  notices.push(...strangers(env, used))
  if (problems.length > 0 || !policies?.ok) throw new ConfigError(problems)

  const adminKey = readSecret(env, 'TOLLGATE_ADMIN_KEY', settings.dataFolder, 'admin-key', problems, notices)
  const secret = readSecret(env, 'TOLLGATE_SECRET', settings.dataFolder, 'secret', problems, notices)
  if (adminKey === undefined || secret === undefined || problems.length > 0) throw new ConfigError(problems)
  if (settings.databaseUrl !== undefined && secret.source === 'file') {
    notices.push(
      'DATABASE_URL is set and TOLLGATE_SECRET is not: replicas need the same one, so set it before adding a second.',
    )
  }
  return deepFreeze({
    ...settings,
    ...policies.policies,
    ...parts,
    resource,
    policyFolder,
    adminKey,
    secret,
    switches,
    notices,
  })
}

const NOTHING: DataFile = { file: 'the configuration file', value: {}, lineOf: () => undefined }
