/**
 * Reading what an upstream answered to a call, and telling the ways of not answering apart.
 * @module
 */
import { join, members, type Span } from '../../json.ts'
import { isReservedMeta } from '../../policy/meta.ts'
import type { Code } from '../../policy/words.ts'
import type { Answer } from '../connector.ts'
import { errorOf, type Link } from './link.ts'
import type { Message } from './message.ts'
import type { Snip } from './snippet.ts'
import type { WireProblem } from './wire.ts'

/** A call without an answer. */
export function failed(code: Code, reason: string, ran: 'no' | 'maybe'): Answer {
  return { kind: 'failed', code, reason, ran }
}

/** The answer in a complete result. The message must hold a result that is an object; a key given twice throws. */
export function readResult(message: Message): Answer {
  const { text } = message
  const span = members(text)?.get('result')
  const spans = span && members(text, span.start)
  if (spans === undefined) return unreadable('')
  const { isError } = message.value.result as { isError?: unknown }
  return {
    kind: 'result',
    members: join(text, spans, (key) => key === 'resultType' || key === '_meta'),
    metaText: metaMembers(text, spans),
    isError: isError === true,
  }
}

/** The members of an object's `_meta` that may be passed on, as JSON text without braces. */
export function metaMembers(text: string, spans: Map<string, Span>): string {
  const meta = spans.get('_meta')
  const found = meta && members(text, meta.start)
  return found === undefined ? '' : join(text, found, isReservedMeta)
}

/** The answer in an error. Errors about the hop between gateway and upstream are no answer to the caller. */
export function readError(message: Message, snip: Snip): Answer {
  const error = errorOf(message)
  const span = members(message.text)?.get('error')
  if (error === undefined || span === undefined || !Number.isInteger(error.code)) return unreadable(snip(message.text))
  // -32020 to -32099 speak of this hop's envelope (2026-07-28); -32042 asks for a page to be opened by a client that is not there.
  if ((error.code <= -32020 && error.code >= -32099) || error.code === -32042) {
    return failed(
      'upstream_unavailable',
      `It refused the gateway's request (${error.code}): ${snip(error.message)}`,
      'no',
    )
  }
  return { kind: 'error', errorText: message.text.slice(span.start, span.end) }
}

/** An answer that is none. */
export function unreadable(shown: string): Answer {
  return failed(
    'outcome_unknown',
    `It answered with something that is no tool result${shown === '' ? '.' : `: ${shown}`}`,
    'maybe',
  )
}

/** What a wire's problem means for the call. */
export function failureOf(problem: WireProblem): Answer {
  const { kind, reason, ran } = problem
  if (kind === 'refused' || ran === 'no') return failed('upstream_unavailable', reason, ran)
  return failed('outcome_unknown', reason, ran)
}

/**
 * Whether an upstream says that it no longer knows the session of a legacy HTTP link.
 * `before`: and by saying so proves that the tool did not run, so that the call may be sent again.
 */
export function lostSession(
  link: Link,
  said: { readonly problem?: WireProblem | undefined; readonly message?: Message },
): 'no' | 'before' | 'unclear' {
  if (link.kind !== 'http' || link.agreement?.era !== 'legacy' || !link.wire.hasSession) return 'no'
  const { problem, message } = said
  if (message !== undefined) return aboutSession(errorOf(message)?.message ?? '') ? 'before' : 'no'
  if (problem?.kind !== 'refused') return 'no'
  if (problem.status === 404) return 'before'
  if (!aboutSession(problem.body ?? '')) return 'no'
  if (problem.status === 400) return 'before'
  return problem.status === 503 ? 'unclear' : 'no'
}

const aboutSession = (text: string): boolean =>
  /session/i.test(text) &&
  /unknown|invalid|expired|not[ _-]?found|no longer|not exist|missing|terminated|not initialized|no valid|unrecogni[sz]ed/i.test(
    text,
  )
