/**
 * The pages for somebody who is not signed in, and for what went wrong.
 * @module
 */
import { html } from 'hono/html'
import type { Frame } from './frame.ts'

/** The sign-in form; `next` is where it leads. */
export function signInPage(facts: {
  readonly base: string
  readonly next: string
  readonly problem?: string
  /** They may be signed in, but came by a link from elsewhere, which brings no cookie. */
  readonly maySigned: boolean
}): Frame {
  const { base, next, problem, maySigned } = facts
  return {
    title: 'Sign in',
    body: html`<div class="narrow">
<h1>Sign in</h1>
<p class="quiet">Calls that need a person wait here for your yes or no.</p>
${problem && html`<p class="notice no" role="alert">${problem}</p>`}
${maySigned && html`<p class="notice">Signed in already? <a href="${next}">Continue</a></p>`}
<form method="post" action="${base}/sign-in" class="panel">
<input type="hidden" name="next" value="${next}">
<label for="key">Admin key</label>
<input id="key" name="key" type="password" required autofocus autocomplete="current-password" spellcheck="false" aria-describedby="key-where">
<p id="key-where" class="quiet small">It is TOLLGATE_ADMIN_KEY, or in the file admin-key of the gateway’s data folder.</p>
<button class="yes">Sign in</button>
</form>
</div>`,
  }
}

/** One sentence, and what to do next. */
export function messagePage(facts: { readonly title: string; readonly more: string; readonly base: string }): Frame {
  const { title, more, base } = facts
  return {
    title,
    body: html`<div class="narrow">
<h1>${title}</h1>
${more !== '' && html`<p>${more}</p>`}
<p><a href="${base}">To the inbox</a></p>
</div>`,
  }
}
