/**
 * Which era an upstream speaks, and the handshake of that era.
 * `server/discover` is tried first; what is no answer of the modern era leads to `initialize`. Refused credentials and
 * failing servers are evidence of neither.
 * @module
 */
import type { ElicitationModes } from '../connector.ts'
import { capabilitiesText, type ClientInfo, type Era, LEGACY, LEGACY_VERSIONS, MODERN, noticeText } from './envelope.ts'
import { type Agreement, type Asked, ask, errorOf, type Link, type LinkEvents, openLink } from './link.ts'
import { type Message, readMessages } from './message.ts'
import type { Snip } from './snippet.ts'
import type { Transport } from './wire.ts'

/** A child process that does not know `server/discover` may stay silent; it is not waited for longer (ms). */
const PROBE_MS = 2_000

export interface Greeting {
  readonly transport: Transport
  readonly client: ClientInfo
  readonly events: LinkEvents
  /** What a person can be asked over this link (legacy; a modern upstream is told with each call). */
  readonly modes: ElicitationModes
  /** What the upstream is told of that, where it differs: some list a tool that asks only to a client that can be asked. */
  readonly declared?: ElicitationModes
  /** The era of an earlier handshake with this upstream, which then is not probed for again. */
  readonly era?: Era
  readonly timeoutMs: number
  readonly snip: Snip
}

/** An open link, or a sentence that says why there is none. */
export type Greeted = { readonly link: Link } | { readonly failure: string }

/** Opens a link and shakes hands. A failed link is closed. Never rejects. */
export async function greet(greeting: Greeting): Promise<Greeted> {
  const deadline = Date.now() + greeting.timeoutMs
  const left = (): number => Math.max(1, deadline - Date.now())
  let link = openLink(greeting)
  if (greeting.era !== 'legacy') {
    const { probe, verdict } = await discover(link, greeting, left)
    if (verdict.era === 'modern') return settle(link, verdict.agreement)
    if (verdict.era === 'none') return fail(link, verdict.failure)
    // A child that fell silent or exited over the probe may not be asked again; a fresh one starts from nothing.
    if (probe.message === undefined && greeting.transport.kind === 'stdio') {
      await link.wire.close()
      link = openLink(greeting)
    }
  }
  const asked = await ask(link, 'initialize', initializeParams(greeting), left())
  const agreement = readInitialize(asked, greeting.snip)
  if (typeof agreement === 'string') return fail(link, agreement)
  const greeted = settle(link, agreement)
  const refused = await link.wire.post(noticeText('notifications/initialized', ''))
  return refused === undefined ? greeted : fail(link, `It did not take notifications/initialized. ${refused.reason}`)
}

/** Asks what it speaks; once more when it refuses the modern revision and offers it in the same breath. */
async function discover(
  link: Link,
  greeting: Greeting,
  left: () => number,
): Promise<{ probe: Asked; verdict: Verdict }> {
  const limit = greeting.transport.kind === 'stdio' ? PROBE_MS : greeting.timeoutMs
  const first = await ask(link, 'server/discover', '', Math.min(limit, left()))
  const verdict = judge(first, greeting)
  if (verdict.era !== 'again') return { probe: first, verdict }
  const probe = await ask(link, 'server/discover', '', Math.min(limit, left()))
  const second = judge(probe, greeting)
  const stubborn: Verdict = { era: 'none', failure: `It offers the revision ${MODERN} and refuses it.` }
  return { probe, verdict: second.era === 'again' ? stubborn : second }
}

function settle(link: Link, agreement: Agreement): Greeted {
  link.agreement = agreement
  link.wire.agree(agreement.version)
  return { link }
}

async function fail(link: Link, failure: string): Promise<Greeted> {
  await link.wire.close()
  return { failure }
}

type Verdict =
  | { readonly era: 'modern'; readonly agreement: Agreement }
  | { readonly era: 'legacy' | 'again' }
  | { readonly era: 'none'; readonly failure: string }

const LEGACY_VERDICT: Verdict = { era: 'legacy' }

function judge(asked: Asked, greeting: Greeting): Verdict {
  const { problem } = asked
  if (problem === undefined) return judgeAnswer(asked.message, greeting.snip)
  if (problem.kind === 'refused') {
    const status = problem.status ?? 0
    if (status === 401 || status === 403 || status === 429 || status >= 500)
      return { era: 'none', failure: problem.reason }
    const [message] = readMessages(problem.body ?? '') ?? []
    return message === undefined ? LEGACY_VERDICT : judgeAnswer(message, greeting.snip)
  }
  if (problem.kind === 'garbled') return LEGACY_VERDICT
  if (greeting.transport.kind === 'stdio' && (problem.kind === 'timeout' || problem.kind === 'broken'))
    return LEGACY_VERDICT
  return { era: 'none', failure: problem.reason }
}

function judgeAnswer(message: Message, snip: Snip): Verdict {
  const error = errorOf(message)
  if (error === undefined) return judgeDiscovery(message.value.result)
  if (error.code === -32022) {
    const supported = supportedBy(message)
    return supported.includes(MODERN) ? { era: 'again' } : judgeVersions(supported)
  }
  // HeaderMismatch and a missing capability are answers of the modern era, though not to a request this client sends.
  if (error.code === -32020 || error.code === -32021)
    return { era: 'none', failure: `It refused server/discover: ${snip(error.message)}` }
  return LEGACY_VERDICT
}

function judgeDiscovery(result: unknown): Verdict {
  if (!isObject(result) || !Array.isArray(result.supportedVersions)) return LEGACY_VERDICT
  if (!result.supportedVersions.includes(MODERN)) return judgeVersions(result.supportedVersions)
  return {
    era: 'modern',
    agreement: { era: 'modern', version: MODERN, tellsChanges: tellsChanges(result.capabilities) },
  }
}

function judgeVersions(supported: readonly unknown[]): Verdict {
  if (supported.length === 0 || supported.some((version) => LEGACY_VERSIONS.includes(String(version))))
    return LEGACY_VERDICT
  return {
    era: 'none',
    failure: `It speaks none of the MCP revisions known here (${MODERN}, ${LEGACY_VERSIONS.join(', ')}).`,
  }
}

function supportedBy(message: Message): readonly unknown[] {
  const error = message.value.error as { data?: { supported?: unknown } }
  return Array.isArray(error.data?.supported) ? error.data.supported : []
}

function initializeParams({ client, modes, declared = modes }: Greeting): string {
  return `"protocolVersion":"${LEGACY}","capabilities":${capabilitiesText(declared)},"clientInfo":${JSON.stringify(client)}`
}

/** Reads the answer to `initialize`; a sentence when the upstream cannot be used. */
function readInitialize(asked: Asked, snip: Snip): Agreement | string {
  if (asked.problem !== undefined) return asked.problem.reason
  const error = errorOf(asked.message)
  if (error !== undefined) return `It refused initialize: ${snip(error.message)}`
  const { result } = asked.message.value
  if (!isObject(result) || typeof result.protocolVersion !== 'string')
    return 'It answered initialize without a protocolVersion.'
  const version = result.protocolVersion
  if (!LEGACY_VERSIONS.includes(version)) {
    return `It answered initialize with the revision "${snip(version)}", which is none of ${LEGACY_VERSIONS.join(', ')}.`
  }
  return { era: 'legacy', version, tellsChanges: tellsChanges(result.capabilities) }
}

function tellsChanges(capabilities: unknown): boolean {
  return isObject(capabilities) && isObject(capabilities.tools) && capabilities.tools.listChanged === true
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
