/**
 * The inbox: the pages where a person reads what waits and decides it. They work without JavaScript, and nothing but a
 * POST with the page's own token, sent from this very site by somebody signed in, decides anything.
 * @module
 */
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { AuditUnavailable } from '../../audit/audit.ts'
import { DatabaseUnavailable } from '../../db/errors.ts'
import { createAnswers } from './answers.ts'
import { createFiles } from './files.ts'
import { sameSite } from './form.ts'
import { HEADERS } from './frame.ts'
import { addDecisions } from './decisions.ts'
import { addEntry } from './entry.ts'
import { addPages } from './pages.ts'
import type { InboxParts } from './parts.ts'
import { createSignIn } from './signed.ts'
import { addWorkForms } from './work-forms.ts'
import { addWorkPages } from './work-pages.ts'

export type { InboxParts } from './parts.ts'

const MOST_BYTES = 65_536
const KNOWN = [
  /^\/inbox(\/cards\/[^/]+(\/(approve|deny|settle))?|\/standing\/[^/]+\/revoke|\/sign-(in|out)|\/(history|standing|events))?$/,
  /^\/inbox\/(tools(\/[^/]+(\/accept)?)?|routines(\/[^/]+(\/(tools|ready|automatic))?)?|traces\/[^/]+)$/,
]
const POSTS = /\/(approve|deny|settle|revoke|sign-in|sign-out|accept|ready|routines\/[^/]+\/tools)$/

/** Builds the pages: everything at `/inbox` and below. */
export function createInbox(parts: InboxParts): Hono {
  const { personOf, approver, seal, inboxUrl, now, log } = parts
  const { pathname: base, origin, protocol } = new URL(inboxUrl)
  const files = createFiles()
  const answers = createAnswers(base, files.version, now)
  const entry = createSignIn({ personOf, approver, seal, secure: protocol === 'https:', now })
  const app = new Hono()
  const { say } = answers

  app.use('/inbox/*', async (c, next) => {
    for (const [name, value] of Object.entries(HEADERS)) c.header(name, value)
    await next()
  })
  app.use('/inbox/*', bodyLimit({ maxSize: MOST_BYTES, onError: (c) => say(c, 413, 'That was too much text.') }))
  app.on('POST', '/inbox/*', async (c, next) => {
    if (sameSite(c, origin)) return next()
    return say(c, 403, 'This form was sent from another site, so nothing was done.', `Open ${inboxUrl} itself.`)
  })

  files.add(app)
  const site = { base, entry, answers }
  addPages(app, parts, site)
  addDecisions(app, parts, site)
  if (parts.work !== undefined) {
    addWorkPages(app, parts, parts.work, site)
    addWorkForms(app, parts.work, site)
  }
  addEntry(app, site)

  app.all('/inbox/*', (c) => {
    if (!KNOWN.some((known) => known.test(c.req.path))) return say(c, 404, 'There is no such page.')
    c.header('allow', POSTS.test(c.req.path) ? 'POST' : 'GET, HEAD')
    return say(c, 405, 'Opening this address does nothing.', 'Cards are decided by the buttons on their page.')
  })

  app.onError((error, c) => {
    if (error instanceof DatabaseUnavailable || error instanceof AuditUnavailable) {
      c.header('retry-after', '2')
      const next = 'Look in a few seconds whether a decision was kept, and decide again if not.'
      return say(c, 503, 'The gateway cannot reach its database.', next)
    }
    log.error({ err: error }, 'an inbox page failed')
    return say(c, 500, 'The gateway failed inside.', 'Its log says why.')
  })

  return app
}
