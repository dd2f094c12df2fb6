/**
 * How the inbox answers: a page, a sentence, or the sign-in form.
 * @module
 */
import type { Context } from 'hono'
import { createFrame, type Frame, type Show } from './frame.ts'
import { messagePage, signInPage } from './sign-in.ts'
import type { Signed } from './signed.ts'

export type Status = 200 | 400 | 401 | 403 | 404 | 405 | 409 | 413 | 422 | 429 | 500 | 503

export interface Answers {
  show(c: Context, status: Status, page: Frame): Response | Promise<Response>
  say(c: Context, status: Status, title: string, more?: string): Response | Promise<Response>
  noCard(c: Context): Response | Promise<Response>
  askToSignIn(c: Context, next: string, status?: Status, problem?: string): Response | Promise<Response>
  /** What a page shows to whom, now. */
  shows(signed: Signed): Show
}

/** Builds them. `base` is the path of the inbox, `now` milliseconds since the epoch. */
export function createAnswers(base: string, version: string, now: () => number): Answers {
  const page = createFrame(base, version)
  const show: Answers['show'] = (c, status, frame) => c.html(page(frame), status)
  const say: Answers['say'] = (c, status, title, more = '') => show(c, status, messagePage({ title, more, base }))
  return {
    show,
    say,
    // The same for a card that never was and for one of another brand.
    noCard: (c) => say(c, 404, 'There is no such card.', 'It may belong to another gateway or to another brand.'),
    askToSignIn(c, next, status = 200, problem) {
      // A link from elsewhere brings no SameSite=Strict cookie, a click on this page does.
      const maySigned = status === 200 && ['cross-site', 'same-site'].includes(c.req.header('sec-fetch-site') ?? '')
      return show(c, status, signInPage({ base, next, maySigned, ...(problem === undefined ? {} : { problem }) }))
    },
    shows: (signed) => ({ signed, base, now: now() }),
  }
}
