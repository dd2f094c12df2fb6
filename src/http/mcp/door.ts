/**
 * The MCP door: `/mcp` and `/mcp/<connector>`, both eras on one URL. It reads, authenticates and dispatches;
 * what a caller may do is decided at the gate.
 * @module
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Withheld } from '../../connector/connector.ts'
import { createMirror } from '../../connector/mcp/mirror.ts'
import type { Passing } from '../../gate/gate.ts'
import type { ToolView } from '../../gate/views.ts'
import { type Bounds, canonicalText } from '../../json.ts'
import type { Session } from '../../policy/words.ts'
import { BodyRefused, readBody } from '../edge.ts'
import { type CallParts, callTool, type ToolCall } from './call.ts'
import { BadMessage, isObject, type Message, memberText, type Params, readMessage } from './envelope.ts'
import { instructionsFor } from './instructions.ts'
import type { Era } from './lists.ts'
import { checkMirrored, checkModern, elicitationOf, isModern } from './modern.ts'
import { isServed, LEGACY_VERSIONS, META, MODERN_VERSION, RPC } from './protocol.ts'
import { createAccepts, createReply, type Reply, type Takes } from './reply.ts'
import { answerText, errorText } from './say.ts'
import type { Scope } from './scope.ts'
import type { LegacySession, LegacySessions } from './sessions.ts'
import type { Streams } from './streams.ts'
import { TASKS } from './task.ts'
import { needTasks, serveTask } from './tasks.ts'

export interface DoorParts extends CallParts {
  /** The session of a request's token; throws what `refuseCaller` understands. */
  readonly authenticate: (req: IncomingMessage) => Session | Promise<Session>
  /** Answers a request whose caller was refused (401 and a challenge, or 503). */
  readonly refuseCaller: (req: IncomingMessage, res: ServerResponse, problem: unknown) => void
  /** Told of a message that was refused before it came to the gate, for the record. */
  readonly refusedMessage: (session: Session, reason: string) => void
  readonly viewOf: (session: Session) => ToolView
  readonly withheldFor: (session: Session) => readonly Withheld[]
  readonly sessions: LegacySessions
  readonly streams: Streams
  readonly bounds: Bounds
  readonly bodyBytes: number
  /** Aborted when the gateway stops: calls that wait for a person are answered "pending" then. */
  readonly closing: AbortSignal
}

/** One request whose caller is known. */
interface Visit {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly scope: Scope
  readonly session: Session
  readonly reply: Reply
}

/** Builds the handler of MCP requests. */
export function createDoor(parts: DoorParts) {
  const inFlight = new Map<string, Passing>()
  const mirror = createMirror()
  const underWay = new Set<Passing>()
  parts.closing.addEventListener('abort', () => {
    for (const passing of underWay) passing.leave()
  })
  const accepts = createAccepts()

  return async function mcpDoor(req: IncomingMessage, res: ServerResponse, scope: Scope): Promise<void> {
    const takes = accepts(req.headers.accept)
    const reply = createReply(res, takes)
    let session: Session
    try {
      const authenticated = parts.authenticate(req)
      session = authenticated instanceof Promise ? await authenticated : authenticated
    } catch (problem) {
      parts.refuseCaller(req, res, problem)
      return
    }
    const visit: Visit = { req, res, scope, session, reply }
    try {
      switch (req.method) {
        case 'POST':
          return await post(visit, takes)
        case 'GET':
          return openLegacyStream(visit, takes)
        case 'DELETE':
          return endLegacySession(visit)
        default:
          return reply.json(405, errorText('null', RPC.invalidRequest, 'Use POST.'), { allow: 'POST, GET, DELETE' })
      }
    } catch (problem) {
      if (problem instanceof BadMessage && problem.status !== 200) parts.refusedMessage(session, problem.message)
      if (!(problem instanceof BadMessage || problem instanceof BodyRefused)) parts.broke(problem)
      answerProblem(reply, problem)
    }
  }

  async function post(visit: Visit, takes: Takes): Promise<void> {
    const { req, reply } = visit
    if (!takes.json && !takes.stream) {
      throw new BadMessage(406, RPC.invalidRequest, 'Accept application/json and text/event-stream.')
    }
    const type = req.headers['content-type']?.split(';')[0]?.trim().toLowerCase()
    if (type !== 'application/json') throw new BadMessage(415, RPC.invalidRequest, 'Send application/json.')
    if (req.headers['content-encoding'] !== undefined) {
      throw new BadMessage(415, RPC.invalidRequest, 'Send the body without a Content-Encoding.')
    }
    const message = readMessage(await readBody(req, parts.bodyBytes), parts.bounds)
    const params = message.kind === 'response' ? undefined : message.params
    const method = message.kind === 'response' ? undefined : message.method
    if (params !== undefined && isModern(req.headers, method, params)) return modern(visit, message)
    const stated = req.headers['mcp-protocol-version']
    if (
      stated !== undefined &&
      !LEGACY_VERSIONS.includes(stated as (typeof LEGACY_VERSIONS)[number]) &&
      method !== 'initialize'
    ) {
      const sentence = `The header MCP-Protocol-Version names no version served here. Served: ${[MODERN_VERSION, ...LEGACY_VERSIONS].join(', ')}.`
      throw new BadMessage(400, RPC.invalidRequest, sentence, message.kind === 'request' ? message.idText : 'null')
    }
    legacy(visit, message)
    if (message.kind !== 'request') reply.empty(202)
  }

  // --- 2024-11-05 to 2025-11-25 -----------------------------------------------------------------------------------

  function legacy(visit: Visit, message: Message): void {
    const { session, reply, req } = visit
    if (message.kind === 'request' && message.method === 'initialize')
      return initialize(visit, message.idText, message.params)
    const id = req.headers['mcp-session-id']
    const known = typeof id === 'string' ? parts.sessions.find(session, id) : undefined
    if (id !== undefined && known === undefined) {
      const idText = message.kind === 'request' ? message.idText : 'null'
      throw new BadMessage(
        404,
        RPC.sessionNotFound,
        'Session not found. Send initialize again, without a session id.',
        idText,
      )
    }
    if (message.kind === 'response') {
      if (known !== undefined) parts.questions.answerLegacy(session, known.id, message.id, message.resultText)
      return
    }
    if (message.kind === 'notification') {
      if (message.method === 'notifications/cancelled') cancel(visit, known, message.params)
      return
    }
    const { idText, method, params } = message
    if (!isServed(method, 'legacy')) return reply.json(200, notServed(idText, method))
    switch (method) {
      case 'ping':
        return reply.json(200, answerText(idText, '{}'))
      case 'tools/list':
        return list(visit, 'legacy', idText, params)
      case 'tools/call':
        return call(visit, 'legacy', idText, params, known)
      default:
        return reply.json(200, notServed(idText, method))
    }
  }

  function initialize({ session, scope, reply }: Visit, idText: string, params: Params): void {
    const asked = params.value.protocolVersion
    if (typeof asked !== 'string') {
      throw new BadMessage(200, RPC.invalidParams, '"protocolVersion" must be a string such as "2025-11-25".', idText)
    }
    const version = LEGACY_VERSIONS.find((known) => known === asked) ?? LEGACY_VERSIONS[0]
    const opened = parts.sessions.open(session, version, elicitationOf(params.value.capabilities))
    const view = parts.viewOf(session)
    const instructions = instructionsFor(session, view, scope, parts.withheldFor(session))
    const result =
      `{"protocolVersion":"${version}","capabilities":{"tools":{"listChanged":true}},` +
      `"serverInfo":${parts.serverInfoText},"instructions":${JSON.stringify(instructions)}}`
    reply.json(200, answerText(idText, result), { 'mcp-session-id': opened.id })
  }

  function cancel({ session }: Visit, known: LegacySession | undefined, params: Params): void {
    const { requestId } = params.value
    if (typeof requestId !== 'string' && typeof requestId !== 'number') return
    const key = flightKey(session, known, memberText(params, 'requestId') as string)
    inFlight.get(key)?.takeBack('The client cancelled the call.')
  }

  function openLegacyStream({ req, res, session, scope, reply }: Visit, takes: Takes): void {
    const id = req.headers['mcp-session-id']
    if (id === undefined || req.headers['mcp-protocol-version'] === MODERN_VERSION) {
      return reply.json(405, errorText('null', RPC.invalidRequest, 'Use POST; a GET stream needs Mcp-Session-Id.'), {
        allow: 'POST',
      })
    }
    if (typeof id !== 'string' || parts.sessions.find(session, id) === undefined) {
      throw new BadMessage(404, RPC.sessionNotFound, 'Session not found. Send initialize again, without a session id.')
    }
    if (!takes.stream) throw new BadMessage(406, RPC.invalidRequest, 'Accept text/event-stream.')
    openStream({ res, session, scope, reply }, undefined, true)
  }

  function endLegacySession({ req, session, reply }: Visit): void {
    const id = req.headers['mcp-session-id']
    if (id === undefined) {
      return reply.json(405, errorText('null', RPC.invalidRequest, 'There is no session to delete.'), { allow: 'POST' })
    }
    if (typeof id !== 'string' || !parts.sessions.end(session, id)) {
      throw new BadMessage(404, RPC.sessionNotFound, 'Session not found.')
    }
    reply.empty(200)
  }

  // --- 2026-07-28 -------------------------------------------------------------------------------------------------

  function modern(visit: Visit, message: Message): void | Promise<void> {
    const { req, reply, session, scope } = visit
    if (message.kind !== 'request') return reply.empty(202)
    const { idText, method, params } = message
    checkModern(req.headers, method, params, idText)
    if (!isServed(method, 'modern')) return reply.json(404, notServed(idText, method))
    switch (method) {
      case 'server/discover':
        return reply.json(200, answerText(idText, discovery(session, scope)))
      case 'tools/list':
        return list(visit, 'modern', idText, params)
      case 'tools/call':
        return call(visit, 'modern', idText, params, undefined)
      case 'tasks/get':
      case 'tasks/update':
      case 'tasks/cancel':
        return serveTask(parts, { session, method, idText, params, reply })
      case 'subscriptions/listen': {
        const wanted = params.value.notifications
        if (isObject(wanted) && wanted.taskIds !== undefined) needTasks(params, idText)
        return openStream(visit, idText, isObject(wanted) && wanted.toolsListChanged === true)
      }
      default:
        return reply.json(404, notServed(idText, method))
    }
  }

  function discovery(session: Session, scope: Scope): string {
    const instructions = instructionsFor(session, parts.viewOf(session), scope, parts.withheldFor(session))
    return (
      `{"resultType":"complete","supportedVersions":["${MODERN_VERSION}"],"capabilities":{"tools":{"listChanged":true},` +
      `"extensions":{"${TASKS}":{}}},"instructions":${JSON.stringify(instructions)},"ttlMs":0,"cacheScope":"private",` +
      `"_meta":{"${META.serverInfo}":${parts.serverInfoText}}}`
    )
  }

  // --- both -------------------------------------------------------------------------------------------------------

  function list({ session, scope, reply }: Visit, era: Era, idText: string, params: Params): void {
    const { cursor } = params.value
    const wanted = typeof cursor === 'string' || cursor === undefined ? cursor : ''
    const page = parts.lists.page(session, parts.viewOf(session), scope, era, wanted)
    if (page === undefined)
      throw new BadMessage(200, RPC.invalidParams, 'Unknown cursor. Start the list again.', idText)
    const [head, tools, tail] = page
    reply.ready([`{"jsonrpc":"2.0","id":${idText},"result":${head}`, tools, `${tail}}`])
  }

  function call(visit: Visit, era: Era, idText: string, params: Params, known: LegacySession | undefined): void {
    const { session, scope, reply, req, res } = visit
    const elicitation =
      era === 'modern' ? elicitationOf(params.meta[META.clientCapabilities]) : (known?.elicitation ?? NO_ELICITATION)
    const view = parts.viewOf(session)
    const toolCall: ToolCall = {
      session,
      view,
      scope,
      era,
      idText,
      params,
      elicitation,
      mcpSessionId: known?.id,
      reply,
    }
    const passing = callTool(parts, toolCall, (tool, argumentsText) => {
      if (era === 'modern') checkMirrored(req.headers, mirror(tool, argumentsText), idText)
    })
    const key = flightKey(session, known, idText)
    underWay.add(passing)
    if (parts.closing.aborted) passing.leave()
    if (era === 'legacy') inFlight.set(key, passing)
    res.on('close', () => {
      underWay.delete(passing)
      if (era === 'legacy' && inFlight.get(key) === passing) inFlight.delete(key)
      if (res.writableFinished) return
      // Closing the stream is a cancel in the modern era only; in the legacy era it merely ends the wait. Whether a
      // person pressed a key or a line broke cannot be told apart, so neither takes a card back.
      if (era === 'modern') passing.cancel('The client closed the stream.')
      else passing.leave()
    })
  }

  function openStream(
    { res, session, scope, reply }: Pick<Visit, 'res' | 'session' | 'scope' | 'reply'>,
    subscription: string | undefined,
    toolsListChanged: boolean,
  ): void {
    const opened = parts.streams.open({ session, scope, res, subscription, toolsListChanged })
    if (opened === undefined) {
      const text = errorText(
        subscription ?? 'null',
        RPC.invalidRequest,
        'This session has too many open streams. Close some.',
      )
      reply.json(429, text, { 'retry-after': '5' })
    }
  }
}

const NO_ELICITATION = { form: false, url: false }

/** Ids are compared as values: two ways to write one text are one id, and no digit is lost. */
const flightKey = (session: Session, known: LegacySession | undefined, idText: string): string =>
  `${session.id} ${known?.id ?? ''} ${canonicalText(idText)}`

const notServed = (idText: string, method: string): string =>
  errorText(idText, RPC.methodNotFound, `Method not found: ${method.slice(0, 64)}. This gateway proxies tools only.`)

/** A message that was refused, or a failure of ours: one well-formed answer either way. */
function answerProblem(reply: Reply, problem: unknown): void {
  if (problem instanceof BadMessage) {
    reply.json(problem.status, errorText(problem.idText, problem.code, problem.message, problem.data))
  } else if (problem instanceof BodyRefused) {
    reply.json(problem.status, errorText('null', RPC.invalidRequest, problem.message), { connection: 'close' })
  } else {
    reply.json(500, errorText('null', RPC.internal, 'The gateway failed inside. Nothing was sent to an upstream.'))
  }
}
