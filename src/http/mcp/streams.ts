/**
 * Open streams of notices: a legacy client's GET, a modern client's `subscriptions/listen`. After a change of the
 * registry each is told that its list changed if, and only if, it did; a dead or expired session's streams end.
 * @module
 */
import type { ServerResponse } from 'node:http'
import type { ToolView } from '../../gate/views.ts'
import type { Session } from '../../policy/words.ts'
import type { Lists } from './lists.ts'
import { META } from './protocol.ts'
import { event } from './reply.ts'
import type { Scope } from './scope.ts'
import { answerText } from './say.ts'

export interface Stream {
  readonly session: Session
  readonly scope: Scope
  readonly res: ServerResponse
  /** The id of the `subscriptions/listen` request, as text; undefined for a legacy GET stream. */
  readonly subscription: string | undefined
  /** Whether the client asked to be told of list changes. */
  readonly toolsListChanged: boolean
}

export interface Streams {
  /** Sends the headers and keeps the stream; undefined when this session has too many. */
  open(stream: Stream): (() => void) | undefined
  /** The registry changed. */
  changed(): void
  /** A session died. */
  end(sessionId: string): void
  readonly size: number
  close(): void
}

export interface StreamParts {
  readonly viewOf: (session: Session) => ToolView
  readonly lists: Lists
  readonly now: () => number
  readonly debounceMs: number
  readonly keepAliveMs: number
  readonly mostPerSession: number
}

/** Builds the hub of all open streams of this process. */
export function createStreams(parts: StreamParts): Streams {
  const open = new Map<Stream, string>()
  const perSession = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  const keepAlive = setInterval(beat, parts.keepAliveMs)
  keepAlive.unref()

  const markOf = (stream: Stream): string => parts.lists.mark(parts.viewOf(stream.session), stream.scope)

  function beat(): void {
    for (const stream of open.keys()) {
      if (parts.now() > stream.session.expiresAt) finish(stream)
      else stream.res.write(': keep-alive\n\n')
    }
  }

  function tell(): void {
    timer = undefined
    for (const [stream, told] of open) {
      if (!stream.toolsListChanged) continue
      const mark = markOf(stream)
      if (mark === told) continue
      open.set(stream, mark)
      stream.res.write(event(notice('notifications/tools/list_changed', stream.subscription)))
    }
  }

  function finish(stream: Stream): void {
    if (stream.subscription !== undefined) {
      const meta = `{"${META.subscriptionId}":${stream.subscription}}`
      stream.res.write(event(answerText(stream.subscription, `{"resultType":"complete","_meta":${meta}}`)))
    }
    stream.res.end()
    forget(stream)
  }

  function forget(stream: Stream): void {
    if (!open.delete(stream)) return
    const left = (perSession.get(stream.session.id) ?? 1) - 1
    if (left > 0) perSession.set(stream.session.id, left)
    else perSession.delete(stream.session.id)
  }

  return {
    open(stream) {
      const count = perSession.get(stream.session.id) ?? 0
      if (count >= parts.mostPerSession) return undefined
      perSession.set(stream.session.id, count + 1)
      open.set(stream, markOf(stream))
      stream.res.on('close', () => forget(stream))
      stream.res.on('error', () => forget(stream))
      stream.res.writeHead(200, {
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      })
      stream.res.write(': open\n\n')
      if (stream.subscription !== undefined) stream.res.write(event(acknowledgement(stream)))
      return () => finish(stream)
    },
    changed() {
      timer ??= setTimeout(tell, parts.debounceMs)
    },
    end(sessionId) {
      for (const stream of [...open.keys()]) if (stream.session.id === sessionId) finish(stream)
    },
    get size() {
      return open.size
    },
    close() {
      clearInterval(keepAlive)
      clearTimeout(timer)
      for (const stream of [...open.keys()]) finish(stream)
    },
  }
}

function notice(method: string, subscription: string | undefined): string {
  const params = subscription === undefined ? '' : `,"params":{"_meta":{"${META.subscriptionId}":${subscription}}}`
  return `{"jsonrpc":"2.0","method":"${method}"${params}}`
}

function acknowledgement({ subscription, toolsListChanged }: Stream): string {
  const honoured = toolsListChanged ? '{"toolsListChanged":true}' : '{}'
  const params = `{"notifications":${honoured},"_meta":{"${META.subscriptionId}":${subscription}}}`
  return `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":${params}}`
}
