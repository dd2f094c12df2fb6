/**
 * One session with an upstream: a wire, the gateway's own request ids on it, and what was agreed in the handshake.
 * @module
 */
import type { ElicitationModes } from '../connector.ts'
import {
  ASKS_NOBODY,
  type ClientInfo,
  type Era,
  errorText,
  list,
  modernMeta,
  requestText,
  resultText,
} from './envelope.ts'
import { answers, isClearOutside, type Message, methodOf } from './message.ts'
import type { Transport, Wire, WireProblem } from './wire.ts'
import { members } from '../../json.ts'

/** What the handshake settled. */
export interface Agreement {
  readonly era: Era
  readonly version: string
  /** Whether the upstream says that it tells of changes to its tools. */
  readonly tellsChanges: boolean
}

export interface Link {
  readonly kind: Transport['kind']
  readonly wire: Wire
  readonly client: ClientInfo
  /** What the upstream was told at `initialize` a person can be asked. */
  readonly modes: ElicitationModes
  /**
   * Calls under way that can ask a person, for a question that comes outside their own streams, as servers built on the
   * 1.x SDK send it. All callers of a link with modes are one person, so any of them will do.
   */
  readonly askers: Set<(message: Message) => void>
  /** Undefined until the handshake is over. */
  agreement: Agreement | undefined
  /** Set when the wire is gone; nothing more can be sent. */
  gone: WireProblem | undefined
  /** Calls under way on it, and whether it is to be closed after the last of them. */
  calls: number
  retired: boolean
  nextId(): number
}

/** What a link tells of outside its requests. */
export interface LinkEvents {
  onNotice(message: Message): void
  onGone(problem: WireProblem): void
}

export interface Opening {
  readonly transport: Transport
  readonly client: ClientInfo
  readonly modes: ElicitationModes
  readonly events: LinkEvents
}

/** The answer to a request of the gateway's own: the message, or why there is none. */
export type Asked =
  | { readonly message: Message; readonly problem?: undefined }
  | { readonly message?: undefined; readonly problem: WireProblem | TimedOut }

/** The upstream did not answer within the time the gateway had for it. */
export interface TimedOut {
  readonly kind: 'timeout'
  readonly reason: string
  readonly ran: 'maybe'
}

/** Opens a wire. Requests of the upstream outside any exchange are refused here, but for questions to a person. */
export function openLink({ transport, client, modes, events }: Opening): Link {
  let id = 0
  const link: Link = {
    client,
    modes,
    askers: new Set(),
    kind: transport.kind,
    agreement: undefined,
    gone: undefined,
    calls: 0,
    retired: false,
    nextId: () => ++id,
    wire: transport.open({
      onMessage(message) {
        const [asker] = methodOf(message) === 'elicitation/create' ? link.askers : []
        if (asker !== undefined) asker(message)
        else if (!refuseRequest(link.wire, message)) events.onNotice(message)
      },
      onClose(problem) {
        link.gone = problem
        events.onGone(problem)
      },
    }),
  }
  return link
}

/** Marks a call as under way on the link. */
export function hold(link: Link): void {
  link.calls++
}

/** Marks a call as over; a retired link closes with its last one. */
export function release(link: Link): void {
  link.calls--
  if (link.retired && link.calls <= 0) void link.wire.close()
}

/** Takes a link out of use: closed at once, or when the calls on it are over. */
export function retire(link: Link): void {
  link.retired = true
  if (link.calls <= 0) void link.wire.close()
}

/** Answers a request of the upstream that no person stands behind: ping, and a refusal of all else. False for a notice. */
export function refuseRequest(wire: Wire, message: Message): boolean {
  const method = methodOf(message)
  const id = idText(message)
  if (method === undefined || id === undefined) return false
  void wire.post(
    method === 'ping' ? resultText(id, '{}') : errorText(id, -32601, 'This client does not answer that request.'),
  )
  return true
}

/** The id of a message as it was written; undefined when it has none. */
export function idText(message: Message): string | undefined {
  const { id } = message.value
  if (typeof id !== 'string' && typeof id !== 'number') return undefined
  const span = members(message.text)?.get('id')
  return span === undefined ? undefined : message.text.slice(span.start, span.end)
}

const UNCLEAR: WireProblem = { kind: 'garbled', reason: 'Its answer names a key twice.', ran: 'maybe' }

/**
 * Sends a request of the gateway's own (handshake, listing) and waits for the answer.
 * `params`: members of its params without braces; a modern link adds the `_meta` it must have.
 */
export function ask(link: Link, method: string, params: string, timeoutMs: number): Promise<Asked> {
  const id = link.nextId()
  const modern = method === 'server/discover' || link.agreement?.era === 'modern'
  const text = requestText(
    id,
    method,
    modern ? list(params, `"_meta":{${modernMeta(link.client, ASKS_NOBODY)}}`) : params,
  )
  return new Promise((resolve) => {
    let answered = false
    const timer = setTimeout(() => {
      drop()
      resolve({
        problem: { kind: 'timeout', reason: `It did not answer ${method} within ${timeoutMs} ms.`, ran: 'maybe' },
      })
    }, timeoutMs)
    const drop = link.wire.request(
      { id, text, method, name: undefined },
      {
        onMessage(message) {
          if (answers(message, id)) {
            answered = true
            clearTimeout(timer)
            resolve(isClearOutside(message) ? { message } : { problem: UNCLEAR })
          } else refuseRequest(link.wire, message)
        },
        onEnd(problem) {
          clearTimeout(timer)
          if (!answered)
            resolve({
              problem: problem ?? { kind: 'broken', reason: `It ended without answering ${method}.`, ran: 'maybe' },
            })
        },
      },
    )
  })
}

/** A JSON-RPC error's code and message, bounded by the caller. */
export function errorOf(message: Message): { readonly code: number; readonly message: string } | undefined {
  const { error } = message.value
  if (typeof error !== 'object' || error === null) return undefined
  const { code, message: said } = error as { code?: unknown; message?: unknown }
  return { code: typeof code === 'number' ? code : Number.NaN, message: typeof said === 'string' ? said : '' }
}
