/**
 * `POST /v1/hooks/pre-tool-use`: the harness asks as a `PreToolUse` HTTP hook of Claude Code, with its session's token.
 * It answers for that session's own built-ins and decides no card. Every answer is 200 with a decision, also for a bad
 * token or a body that is none: the harness takes any other status for a hook that failed, and runs the tool.
 * @module
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Asking, Harness, Permission } from '../gate/harness.ts'
import { type Bounds, check, members, UnreadableJson } from '../json.ts'
import type { Session } from '../policy/words.ts'
import { TokenRefused } from '../session/token.ts'
import { BodyRefused, isLong, readBody } from './edge.ts'

export const PRE_TOOL_USE = '/v1/hooks/pre-tool-use'

export interface HookParts {
  readonly harness: Harness
  /** The session of a request's token; throws where there is none. */
  readonly authenticate: (req: IncomingMessage) => Session | Promise<Session>
  /** Told of a refused caller, for the record. */
  readonly refusedCaller: (problem: TokenRefused) => void
  /** Told of a payload that could not be read, for the record. */
  readonly refusedMessage: (session: Session, reason: string) => void
  readonly bounds: Bounds
  readonly bodyBytes: number
}

/** Builds the handler. */
export function createPreToolUse(parts: HookParts) {
  return async function preToolUse(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (req.method !== 'POST') return answer(res, 405, { title: 'Method Not Allowed', status: 405 }, { allow: 'POST' })
    let asking: Asking | undefined
    res.on('close', () => asking?.leave())
    const permission = await start()
      .then((started) => {
        asking = started
        if (res.closed) asking.leave()
        return asking.permission
      })
      .catch((problem: unknown) => refusal(problem))
    if (isLong(req) && !req.complete) res.setHeader('connection', 'close')
    answer(res, 200, decisionOf(permission))

    async function start(): Promise<Asking> {
      const session = await parts.authenticate(req)
      try {
        const body = (await readBody(req, parts.bodyBytes)).toString('utf8')
        return parts.harness.ask({ session, ...readPayload(body, parts.bounds) })
      } catch (problem) {
        if (problem instanceof UnreadableJson) parts.refusedMessage(session, problem.message)
        throw problem
      }
    }
  }

  function refusal(problem: unknown): Permission {
    if (problem instanceof TokenRefused) parts.refusedCaller(problem)
    const known = problem instanceof UnreadableJson || problem instanceof BodyRefused
    const said = problem instanceof TokenRefused ? problem.description : known ? problem.message : NOT_NOW
    return { allow: false, message: `Tollgate could not decide, so this may not run: ${said}` }
  }
}

const NOT_NOW = 'it cannot check the session right now. Try again in a few seconds.'

/** `tool_name` and `tool_input` of a PreToolUse payload; throws UnreadableJson for anything else. */
function readPayload(text: string, bounds: Bounds): { readonly name: unknown; readonly inputText: string | undefined } {
  const payload = check(text, bounds)
  const found = members(text)
  if (found === undefined) throw new UnreadableJson('The payload is not a JSON object.')
  const { hook_event_name: event, tool_name: name } = payload as Record<string, unknown>
  if (event !== 'PreToolUse') throw new UnreadableJson('"hook_event_name" must be "PreToolUse".')
  const input = found.get('tool_input')
  return { name, inputText: input && text.slice(input.start, input.end) }
}

/** The hook's answer as JSON text: the approved input goes back as it was written. */
function decisionOf(permission: Permission): string {
  const decided = permission.allow
    ? `"permissionDecision":"allow","permissionDecisionReason":"Tollgate allows this call.","updatedInput":${permission.inputText}`
    : `"permissionDecision":"deny","permissionDecisionReason":${JSON.stringify(permission.message)}`
  return `{"hookSpecificOutput":{"hookEventName":"PreToolUse",${decided}}}`
}

function answer(
  res: ServerResponse,
  status: number,
  body: string | object,
  headers: Record<string, string> = {},
): void {
  if (res.headersSent || res.destroyed) return
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  const type = status === 200 ? 'application/json; charset=utf-8' : 'application/problem+json'
  res.writeHead(status, {
    'content-type': type,
    'content-length': bytes.length,
    'cache-control': 'no-store',
    ...headers,
  })
  res.end(bytes)
}
