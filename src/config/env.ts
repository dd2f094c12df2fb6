/**
 * The gateway's own environment variables: one reader each, a sentence for each that cannot be read.
 * An empty variable counts as unset.
 * @module
 */
import { isAbsolute, resolve } from 'node:path'
import { nearest } from '../policy/nearest.ts'
import { SWITCHES } from '../policy/switches.ts'
import type { Env } from './expand.ts'
import { webUrl } from './urls.ts'

/** Every variable the gateway reads besides the switches, with what it is for. */
export const VARIABLES = [
  { name: 'PORT', default: '8787', effect: 'Port to listen on' },
  { name: 'HOST', default: '127.0.0.1', effect: 'Address to listen on' },
  {
    name: 'TOLLGATE_PUBLIC_URL',
    default: 'http://HOST:PORT',
    effect: 'Address under which clients reach the gateway; part of every token',
  },
  { name: 'TOLLGATE_DATA', default: './.tollgate', effect: 'Data folder' },
  {
    name: 'DATABASE_URL',
    default: '',
    effect: 'PostgreSQL to use; without it, an embedded database in the data folder',
  },
  { name: 'TOLLGATE_ADMIN_KEY', default: '', effect: 'Admin key; generated into the data folder when unset' },
  {
    name: 'TOLLGATE_SECRET',
    default: '',
    effect: 'Seals credentials at rest; generated into the data folder when unset',
  },
  {
    name: 'TOLLGATE_SECRET_PREVIOUS',
    default: '',
    effect: 'The secret before this one: what it sealed still opens, until `tollgate rotate-keys` has sealed it anew',
  },
  { name: 'TOLLGATE_OWNER_BRAND', default: 'default', effect: "The deployment owner's own brand" },
  { name: 'TOLLGATE_CONFIG', default: '', effect: 'Configuration file, JSON or YAML' },
  {
    name: 'TOLLGATE_APPROVAL_WAIT_MS',
    default: '45000',
    effect: 'How long a call is held for a person before it is answered "pending"',
  },
  {
    name: 'TOLLGATE_APPROVAL_LEASE_MS',
    default: '600000',
    effect: 'How long an approved call may run before its outcome counts as unknown',
  },
  { name: 'TOLLGATE_POLICIES', default: '', effect: 'Folder of policy files; the shipped ones when unset' },
  {
    name: 'TOLLGATE_LOG',
    default: 'info',
    effect: 'Least level that is logged: trace, debug, info, warn, error, fatal or silent',
  },
  {
    name: 'TOLLGATE_URL',
    default: '',
    effect: 'Gateway that the operator commands talk to; PORT on this machine when unset',
  },
  {
    name: 'TOLLGATE_APPROVER_TOKEN',
    default: '',
    effect: 'What the commands for cards use where there is no admin key: the token of an approver',
  },
  {
    name: 'GOALS_REVIEW_DAILY_USD',
    default: '0.25',
    effect: 'What the goal reviews of one brand may cost in a day, in US dollars',
  },
  {
    name: 'TOLLGATE_ASK_ABOVE_CREDITS',
    default: '10',
    effect:
      'A call that may cost more credits asks a person, where the configuration file says nothing of its connector',
  },
  {
    name: 'TOLLGATE_ASK_ABOVE_USD',
    default: '0.1',
    effect: 'The same for calls that are billed in US dollars',
  },
  { name: 'E2B_API_KEY', default: '', effect: "When set, sandboxes stand in for the host's shell and files" },
] as const

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof LEVELS)[number]

/** What the environment alone says. */
export interface Settings {
  readonly port: number
  readonly host: string
  /** Without a slash at its end. */
  readonly publicUrl: string
  readonly dataFolder: string
  readonly databaseUrl: string | undefined
  readonly ownerBrand: string
  /** Opens what was sealed before; at least 16 characters. */
  readonly previousSecret: string | undefined
  readonly configFile: string | undefined
  readonly approvalWaitMs: number
  /** Longer than any call is let run, so that only a call whose gateway died outruns it. */
  readonly approvalLeaseMs: number
  readonly policyFolder: string | undefined
  readonly logLevel: LogLevel
  /** US dollars (seed 001, "Goal reviewer"). */
  readonly goalsReviewDailyUsd: number
  /** By unit, up to what a call runs unasked in a session with a person; decimals as text. */
  readonly askAbove: { readonly credits: string; readonly usd: string }
  /** `e2b` when the operator set an E2B key (seed 001, built-in table). */
  readonly environment: 'local' | 'e2b'
}

/** Reads the environment; problems and notices are added to the lists given. */
export function readSettings(env: Env, folder: string, problems: string[], notices: string[]): Settings {
  const given = (name: string): string | undefined =>
    env[name] === undefined || env[name] === '' ? undefined : env[name]
  const path = (text: string): string => (isAbsolute(text) ? text : resolve(folder, text))
  const whole = (name: string, standard: number, most: number, least = 0): number => {
    const text = given(name) ?? String(standard)
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
    if (value >= least && value <= most) return value
    problems.push(`${name} must be a whole number from ${least} to ${most}.`)
    return standard
  }

  const dollars = (name: string, standard: number): number => {
    const text = given(name) ?? String(standard)
    if (/^\d{1,6}(\.\d{1,6})?$/.test(text)) return Number(text)
    problems.push(`${name} must be an amount in US dollars such as ${standard}.`)
    return standard
  }

  const decimal = (name: string, standard: string): string => {
    const text = given(name) ?? standard
    if (/^\d{1,12}(\.\d{1,9})?$/.test(text)) return text
    problems.push(`${name} must be a plain number such as ${standard}, not negative.`)
    return standard
  }

  const port = whole('PORT', 8787, 65_535)
  const host = given('HOST') ?? '127.0.0.1'
  if (!/^[A-Za-z0-9.:_-]+(%[A-Za-z0-9]+)?$/.test(host) || /^[^:]*:\d+$/.test(host)) {
    problems.push(
      'HOST must be a host name or an address alone, such as 127.0.0.1 or 0.0.0.0; the port goes into PORT.',
    )
  }
  const databaseUrl = given('DATABASE_URL')
  if (databaseUrl !== undefined && !/^postgres(ql)?:\/\/./.test(databaseUrl)) {
    problems.push('DATABASE_URL must begin with postgres:// or postgresql://; unset it to use the embedded database.')
  }
  const ownerBrand = given('TOLLGATE_OWNER_BRAND') ?? 'default'
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(ownerBrand)) {
    problems.push('TOLLGATE_OWNER_BRAND must be 1 to 64 letters, digits, ".", "_" or "-", the first a letter or digit.')
  }
  const previousSecret = given('TOLLGATE_SECRET_PREVIOUS')
  if (previousSecret !== undefined && previousSecret.length < 16) {
    problems.push('TOLLGATE_SECRET_PREVIOUS is too short to have been a secret; it has at least 16 characters.')
  }
  const level = given('TOLLGATE_LOG') ?? 'info'
  const logLevel = LEVELS.find((known) => known === level)
  if (logLevel === undefined) problems.push(`TOLLGATE_LOG must be one of ${LEVELS.join(', ')}.`)
  const configFile = given('TOLLGATE_CONFIG')
  const policyFolder = given('TOLLGATE_POLICIES')
  return {
    port,
    host,
    publicUrl: publicUrl(given('TOLLGATE_PUBLIC_URL'), host, port, problems, notices),
    dataFolder: path(given('TOLLGATE_DATA') ?? './.tollgate'),
    databaseUrl,
    ownerBrand,
    previousSecret,
    configFile: configFile && path(configFile),
    approvalWaitMs: whole('TOLLGATE_APPROVAL_WAIT_MS', 45_000, 3_600_000),
    approvalLeaseMs: whole('TOLLGATE_APPROVAL_LEASE_MS', 600_000, 86_400_000, 1_000),
    policyFolder: policyFolder && path(policyFolder),
    logLevel: logLevel ?? 'info',
    goalsReviewDailyUsd: dollars('GOALS_REVIEW_DAILY_USD', 0.25),
    askAbove: { credits: decimal('TOLLGATE_ASK_ABOVE_CREDITS', '10'), usd: decimal('TOLLGATE_ASK_ABOVE_USD', '0.1') },
    environment: given('E2B_API_KEY') === undefined ? 'local' : 'e2b',
  }
}

function publicUrl(
  text: string | undefined,
  host: string,
  port: number,
  problems: string[],
  notices: string[],
): string {
  const everywhere = host === '0.0.0.0' || host === '::'
  const named = everywhere ? 'localhost' : host.includes(':') ? `[${host}]` : host
  const standard = `http://${named}:${port}`
  if (text === undefined) {
    if (everywhere)
      notices.push(
        `HOST is ${host} and TOLLGATE_PUBLIC_URL is unset: tokens are made for ${standard}. Set it to the address clients use.`,
      )
    return standard
  }
  const url = webUrl(text)
  if (typeof url === 'string') problems.push(`TOLLGATE_PUBLIC_URL ${url}`)
  else if (url.search !== '' || url.hash !== '')
    problems.push('TOLLGATE_PUBLIC_URL must end with the path; take out what follows "?" or "#".')
  else return url.href.replace(/\/+$/, '')
  return standard
}

/** Names of variables that look like slips: TOLLGATE_ ones nobody reads, and ones close to a switch. */
export function strangers(env: Env, used: ReadonlySet<string>): string[] {
  const switches = SWITCHES.map(({ name }): string => name)
  const known = [...VARIABLES.map(({ name }): string => name), ...switches]
  return Object.keys(env)
    .filter((name) => !known.includes(name) && !used.has(name))
    .flatMap((name) => {
      const ours = name.startsWith('TOLLGATE_')
      const meant = nearest(name, ours ? known : switches)
      if (meant !== undefined) return [`${name} is not a variable this gateway reads; did you mean ${meant}?`]
      return ours ? [`${name} is not a variable this gateway reads.`] : []
    })
}
