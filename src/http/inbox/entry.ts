/**
 * Coming in and going out.
 * @module
 */
import type { Hono } from 'hono'
import { fieldsOf } from './form.ts'
import { wrongKey } from './sign-in.ts'
import type { Site } from './site.ts'

/** Adds sign-in and sign-out. */
export function addEntry(app: Hono, { base, entry, answers }: Site): void {
  app.post('/inbox/sign-in', async (c) => {
    const fields = await fieldsOf(c)
    const back = ownAddress(fields.get('next'), base)
    const key = (fields.get('key') ?? '').trim()
    const entered = await entry.signIn(c, key)
    if (entered === 'ok') return c.redirect(back, 303)
    if (entered === 'wrong') return answers.askToSignIn(c, back, 401, wrongKey(key))
    c.header('retry-after', '60')
    return answers.askToSignIn(c, back, 429, 'Too many wrong keys. Wait a minute, then try again.')
  })

  app.post('/inbox/sign-out', async (c) => {
    const signed = await entry.signed(c)
    if (signed !== undefined && !entry.isOwnForm(signed, (await fieldsOf(c)).get('csrf'))) {
      const title = 'This form is not from your sign-in, so you are still signed in.'
      return answers.say(c, 403, title, 'Open the inbox again.')
    }
    entry.signOut(c)
    return c.redirect(base, 303)
  })
}

/** Tools, routines and runs: one plain name, and for tools whose. */
const WORK = /^\/(tools(\/[\w-]{1,64}(\?brand=[\w.-]{1,64})?)?|routines(\/[\w-]{1,64})?|traces\/[\w-]{1,64})$/

/** Where to go after signing in: a page of the inbox, and nowhere else. */
function ownAddress(next: string | null, base: string): string {
  if (next === `${base}/history` || next === `${base}/standing`) return next
  if (next?.startsWith(`${base}/`) && WORK.test(next.slice(base.length))) return next
  const id = next?.startsWith(`${base}/cards/`) ? next.slice(base.length + 7) : ''
  return /^[0-9a-f-]{36}$/i.test(id) ? `${base}/cards/${id}` : base
}
