/**
 * `notifications/progress` to the caller, under its own token, on the stream of its own request.
 * @module
 */
import { members } from '../../json.ts'
import { memberText, type Params } from './envelope.ts'
import type { Reply } from './reply.ts'

/** One caller's progress. It rises only, as the protocol wants it; what would fall is left out. */
export interface Progress {
  /** Members of the notice besides the token, as JSON text. */
  relay(paramsText: string): void
  /** A person decides: the first byte now, then a notice from time to time. */
  hold(card: { readonly id: string }): void
  stop(): void
}

/** Whether the caller asked for progress. */
export function wantsProgress({ meta }: Params): boolean {
  return typeof meta.progressToken === 'string' || typeof meta.progressToken === 'number'
}

/** The token as the caller wrote it, so that no digit of it is lost. */
function tokenText(params: Params): string {
  const meta = memberText(params, '_meta') ?? '{}'
  const span = members(meta)?.get('progressToken')
  return span === undefined ? '' : meta.slice(span.start, span.end)
}

/** Progress over one reply; without a token in `params` nothing is sent but the first byte of a hold. */
export function createProgress(params: Params, reply: Reply, everyMs: number): Progress {
  const wanted = wantsProgress(params)
  const token = wanted ? tokenText(params) : ''
  let last = Number.NEGATIVE_INFINITY
  let steps = 0
  let timer: NodeJS.Timeout | undefined

  function relay(paramsText: string): void {
    if (!wanted) return
    const { progress } = JSON.parse(`{${paramsText}}`) as { progress?: unknown }
    if (typeof progress !== 'number' || !(progress > last)) return
    last = progress
    reply.message(
      `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},${paramsText}}}`,
    )
  }

  return {
    relay,
    hold({ id }) {
      reply.open()
      const message = JSON.stringify(`Waiting for a person to decide card ${id}.`)
      // Thousandths, so that an upstream that counts from 1 afterwards still rises.
      const say = (): void => relay(`"progress":${++steps / 1000},"message":${message}`)
      say()
      clearInterval(timer)
      timer = setInterval(say, everyMs)
    },
    stop: () => clearInterval(timer),
  }
}
