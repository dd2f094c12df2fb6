/**
 * What a harness is told when a tool of its own may not run, in words for the model.
 * @module
 */
import { SERVERS } from './harness-tools.ts'
import type { Outcome } from './outcome.ts'

/** The sentence for one outcome: it opens with the code and says what to do. `builtins` are those the session holds. */
export function noFor(
  outcome: Exclude<Outcome, { kind: 'answered' }>,
  name: string,
  builtins: readonly string[],
  inboxUrl: string,
): string {
  if (outcome.kind === 'pending') {
    const { id, status, expiresAt } = outcome.card
    const stands =
      status === 'pending'
        ? `a person has to decide this ${name} call, and has not yet (card ${id}, open until ${expiresAt}, at ${inboxUrl})`
        : `a person approved this ${name} call (card ${id})`
    return `approval_pending: ${stands}. It did not run. Go on with other work and ask again with exactly the same input; other input would be another call.`
  }
  if (outcome.code !== 'unknown_tool') return `${outcome.code}: ${outcome.message}`
  const shown = JSON.stringify(name.slice(0, 128))
  if (!name.startsWith('mcp__')) {
    const has = builtins.length === 0 ? 'none' : builtins.join(', ')
    return `unknown_tool: ${shown} is no built-in of this session; it has ${has}.`
  }
  if (SERVERS.some((server) => name.startsWith(`mcp__${server}__`))) return `unknown_tool: ${outcome.message}`
  return (
    `unknown_tool: ${shown} is a tool of another MCP server, and only this gateway's may run. ` +
    `Let the gateway connect to that server; the client's configuration names the gateway "${SERVERS[0]}".`
  )
}
