/**
 * The harness as a connector. A built-in that may run is handed back to the harness, which runs it; the permission prompt
 * is answered here, in the words of Claude Code's `--permission-prompt-tool`.
 * It serves no brand, so no list of connectors and no grant shows it: what a session holds of it comes with its built-ins.
 * @module
 */
import type { Answer, Connector, Running, UpstreamCall } from '../connector/connector.ts'
import { members, parse } from '../json.ts'
import { HANDED_INPUT, type Harness, type Permission } from './harness.ts'
import { HARNESS, HANDED_OVER, PERMISSION_PROMPT } from './harness-tools.ts'

const PROGRESS_MS = 10_000

/** Builds the connector. The decision comes late, since it is made of the gate, which calls connectors. */
export function createHarnessConnector(harness: () => Harness): Connector {
  return {
    slug: HARNESS,
    title: 'Harness',
    serves: () => false,
    state: () => ({ state: 'ready', detail: 'Its built-ins are run by the harness itself.' }),
    tools: () => [],
    withheld: () => [],
    call: (call) => (call.tool.name === PERMISSION_PROMPT.name ? prompt(harness(), call) : handOver(call)),
    close: async () => {},
  }
}

/** Nothing is run here, so nothing can be cancelled. */
function handOver({ argumentsText }: UpstreamCall): Running {
  const meta = `${JSON.stringify(HANDED_INPUT)}:${argumentsText ?? '{}'}`
  return { answer: Promise.resolve(textResult(HANDED_OVER.detail, meta)), cancel: () => {} }
}

function prompt(harness: Harness, { session, argumentsText, onProgress }: UpstreamCall): Running {
  let timer: NodeJS.Timeout | undefined
  let steps = 0
  const wish = { session, ...readWish(argumentsText) }
  const asking = harness.ask({
    ...wish,
    onHold({ id }) {
      if (onProgress === undefined || timer !== undefined) return
      const message = JSON.stringify(`Waiting for a person to decide card ${id}.`)
      const say = (): void => onProgress(`"progress":${++steps},"message":${message}`)
      say()
      timer = setInterval(say, PROGRESS_MS)
    },
  })
  const answer = asking.permission
    .then((permission) => textResult(promptText(permission)))
    .finally(() => clearInterval(timer))
  return { answer, cancel: asking.leave }
}

/** `{tool_name, input, tool_use_id}`. What is missing or of another kind stays undefined, and is refused. */
function readWish(argumentsText = '{}'): { readonly name: unknown; readonly inputText: string | undefined } {
  const found = members(argumentsText)
  const textOf = (key: string): string | undefined => {
    const span = found?.get(key)
    return span && argumentsText.slice(span.start, span.end)
  }
  const name = textOf('tool_name')
  return { name: name === undefined ? undefined : parse(name), inputText: textOf('input') }
}

/** The answer of the protocol. `updatedInput` is what the harness runs in place of what it asked about. */
function promptText(permission: Permission): string {
  return permission.allow
    ? `{"behavior":"allow","updatedInput":${permission.inputText}}`
    : JSON.stringify({ behavior: 'deny', message: permission.message })
}

const textResult = (text: string, metaText = ''): Answer => ({
  kind: 'result',
  members: `"content":[{"type":"text","text":${JSON.stringify(text)}}],"isError":false`,
  metaText,
  isError: false,
})
