/**
 * Hearing of changes to an upstream's tools: a stream of notices where it offers one, else looking again now and then.
 * @module
 */
import { list, modernMeta, ASKS_NOBODY, requestText } from './envelope.ts'
import { type Link, refuseRequest } from './link.ts'
import { methodOf } from './message.ts'
import type { WireProblem } from './wire.ts'

/** How often a list is read again without notices, and how long after a broken stream it is opened again (ms). */
const POLL_MS = 60_000
const REOPEN_MS = 1_000
const REOPEN_MAX_MS = 30_000

/** The notice that the tools changed. */
export const TOOLS_CHANGED = 'notifications/tools/list_changed'

export interface Watch {
  stop(): void
}

/** Watches a link that is ready; `look` is called whenever the list should be read again. */
export function watch(link: Link, look: () => void): Watch {
  let stopped = false
  let live = false
  let tries = 0
  let stream: (() => void) | undefined
  let reopening: NodeJS.Timeout | undefined
  const poll = setInterval(() => {
    if (!live) look()
  }, POLL_MS)
  poll.unref()

  function open(): void {
    live = true
    const openedAt = Date.now()
    stream = (link.agreement?.era === 'modern' ? subscribe : listen)(link, look, (problem) => {
      live = false
      if (stopped) return
      // An upstream that offers no stream says so with a status; asking again would not change that.
      if (problem?.kind === 'refused' || problem?.kind === 'garbled') return
      if (Date.now() - openedAt > REOPEN_MAX_MS) tries = 0
      look()
      reopening = setTimeout(open, Math.min(REOPEN_MS * 2 ** tries++, REOPEN_MAX_MS) * (0.8 + Math.random() * 0.4))
      reopening.unref()
    })
  }

  if (link.agreement?.tellsChanges === true) open()
  return {
    stop() {
      stopped = true
      clearInterval(poll)
      clearTimeout(reopening)
      stream?.()
    },
  }
}

/** The legacy stream; its notices come to the link's own ears. */
function listen(link: Link, _look: () => void, ended: (problem: WireProblem | undefined) => void): () => void {
  return link.wire.listen(ended)
}

/** The modern stream: one long request whose messages are the notices. */
function subscribe(link: Link, look: () => void, ended: (problem: WireProblem | undefined) => void): () => void {
  const id = link.nextId()
  const params = list('"notifications":{"toolsListChanged":true}', `"_meta":{${modernMeta(link.client, ASKS_NOBODY)}}`)
  return link.wire.request(
    { id, text: requestText(id, 'subscriptions/listen', params), method: 'subscriptions/listen', name: undefined },
    {
      onMessage(message) {
        if (methodOf(message) === TOOLS_CHANGED) look()
        else refuseRequest(link.wire, message)
      },
      onEnd: ended,
    },
  )
}
