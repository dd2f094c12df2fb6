/**
 * What every route of the inbox is given, and what it asks of a form before it does anything.
 * @module
 */
import type { Context } from 'hono'
import type { Answers } from './answers.ts'
import { fieldsOf } from './form.ts'
import type { Signed, SignIn } from './signed.ts'

export interface Site {
  /** Path of the inbox. */
  readonly base: string
  readonly entry: SignIn
  readonly answers: Answers
}

/** Who sent a form and what it says, or the answer that refuses it. `back` is where they were. */
export async function ownForm(
  c: Context,
  { entry, answers }: Site,
  back: string,
): Promise<{ readonly signed: Signed; readonly fields: URLSearchParams } | Response> {
  const signed = await entry.signed(c)
  if (signed === undefined) {
    return answers.askToSignIn(c, back, 401, 'Your sign-in has ended, so nothing was decided.')
  }
  const fields = await fieldsOf(c)
  if (entry.isOwnForm(signed, fields.get('csrf'))) return { signed, fields }
  return answers.say(c, 403, 'This form is not from your sign-in, so nothing was decided.', 'Open the inbox again.')
}
