/**
 * A way to one upstream on which each request carries an access token. A token that is refused is asked for anew once, and
 * the request goes out again: refused for its token, it cannot have run.
 * @module
 */
import type { Dispatcher } from 'undici'
import type { Bearer } from './bearer.ts'

type Way = Pick<Dispatcher, 'dispatch'>
type Handler = Dispatcher.DispatchHandler

/** Most bytes kept of a refusal while another token is asked for. */
const MOST = 64 * 1024

/** Wraps a pool of one origin; the token goes to that origin and to no other. */
export function withBearer(pool: Way, bearer: Bearer): Way {
  async function send(options: Dispatcher.DispatchOptions, handler: Handler): Promise<void> {
    try {
      const token = await bearer.token()
      pool.dispatch(carrying(options, token), asking(options, handler, token))
    } catch (error) {
      handler.onResponseError?.(undefined as never, error as Error)
    }
  }

  /** Hears an answer; of a 401 it asks for another token before it lets anybody know. */
  function asking(options: Dispatcher.DispatchOptions, handler: Handler, token: string): Handler {
    let refusal: { readonly start: () => void; readonly parts: Buffer[]; size: number } | undefined
    return {
      onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
      onResponseStart(controller, status, headers, message) {
        const start = () => handler.onResponseStart?.(controller, status, headers, message)
        if (status === 401) refusal = { start, parts: [], size: 0 }
        else start()
      },
      onResponseData(controller, chunk) {
        if (refusal === undefined) return handler.onResponseData?.(controller, chunk)
        refusal.size += chunk.length
        if (refusal.size <= MOST) refusal.parts.push(chunk)
      },
      onResponseEnd(controller, trailers) {
        if (refusal === undefined) return handler.onResponseEnd?.(controller, trailers)
        const { start, parts } = refusal
        void bearer
          .token(token)
          .catch(() => token)
          .then(again)
          .catch((error: Error) => handler.onResponseError?.(undefined as never, error))
        function again(next: string): void {
          if (next !== token) {
            pool.dispatch(carrying(options, next), handler)
            return
          }
          start()
          for (const part of parts) handler.onResponseData?.(controller, part)
          handler.onResponseEnd?.(controller, trailers)
        }
      },
      onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
    }
  }

  return {
    dispatch(options, handler) {
      void send(options, handler)
      return true
    },
  }
}

function carrying(options: Dispatcher.DispatchOptions, token: string): Dispatcher.DispatchOptions {
  return { ...options, headers: [...((options.headers ?? []) as string[]), 'authorization', `Bearer ${token}`] }
}
