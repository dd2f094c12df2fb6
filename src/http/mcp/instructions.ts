/**
 * `instructions`: what this session may call, in words for the model (seed 003, "Prompt-Level Permission Injection").
 * Clients cut them at 2 KB or 4 KB, so they stay under 2,000 characters.
 * @module
 */
import type { Withheld } from '../../connector/connector.ts'
import type { ToolView } from '../../gate/views.ts'
import { mayAsk } from '../../policy/decide.ts'
import type { Session } from '../../policy/words.ts'
import type { Scope } from './scope.ts'

const LIMIT = 1_900

/** The instructions for one session at one door. */
export function instructionsFor(session: Session, view: ToolView, scope: Scope, withheld: readonly Withheld[]): string {
  // The permission prompt is for the harness, so the model is not told of it.
  const tools = view.tools.filter(
    (tool) => tool.decidesBuiltins !== true && (scope === undefined || tool.connector === scope),
  )
  const names = tools.map((tool) => (scope === undefined ? tool.name.slice('mcp__'.length) : tool.ownName))
  const asking = tools.filter(mayAsk).length
  const lines = [
    tools.length === 0
      ? 'This session may call no tools here right now.'
      : `This session may call only these ${tools.length} tools: ${listed(names)}.`,
    'Any other name is refused and recorded.',
  ]
  if (asking > 0) lines.push(askingLine(session, asking))
  if (withheld.length > 0) {
    const away = withheld.slice(0, 5).map(({ tool, reason }) => `${tool} (${reason.slice(0, 120)})`)
    lines.push(`Not there at the moment: ${away.join('; ')}.`)
  }
  return lines.join(' ').slice(0, 2_000)
}

function askingLine(session: Session, count: number): string {
  if (session.channel === 'none') {
    return `${count} of them need a person’s approval, and this session has no one to ask, so they refuse.`
  }
  return (
    `${count} of them wait for a person to approve each call. When a result says approval_pending, the call has not run: ` +
    'go on with other work and call again later with exactly the same arguments.'
  )
}

/** As many names as fit, then a count of the rest. */
function listed(names: readonly string[]): string {
  const shown: string[] = []
  let length = 0
  for (const name of names) {
    length += name.length + 2
    if (length > LIMIT - 900) break
    shown.push(name)
  }
  const rest = names.length - shown.length
  return rest === 0 ? shown.join(', ') : `${shown.join(', ')} and ${rest} more (see tools/list)`
}
