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
${problem && html`<p class="notice no" role="alert" id="problem">${problem}</p>`}
${maySigned && html`<p class="notice">Signed in already? <a href="${next}">Continue</a></p>`}
<form method="post" action="${base}/sign-in" class="panel">
<input type="hidden" name="next" value="${next}">
<label for="key">Approver token or admin key</label>
<input id="key" name="key" type="password" required autofocus autocomplete="current-password" spellcheck="false" aria-describedby="key-where"${problem && html` aria-invalid="true"`}>
<p id="key-where" class="quiet small">The operator gives out approver tokens; each opens the cards of one brand. The admin key is TOLLGATE_ADMIN_KEY, or in the file admin-key of the gateway’s data folder.</p>
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

/** What to say of a key that opens nothing, by its looks alone. */
export function wrongKey(key: string): string {
  if (key === '') return 'Paste an approver token or the admin key.'
  if (!key.startsWith('eyJ')) return 'This key is wrong.'
  return typeOf(key) === 'tollgate-approver+jwt'
    ? 'This approver token opens nothing: it is expired, revoked, or of another gateway. Ask the operator for a new one.'
    : 'This is a session token. It lets an agent call tools; it cannot decide anything.'
}

function typeOf(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).typ
  } catch {
    return undefined
  }
}
