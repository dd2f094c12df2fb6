/**
 * What every page of the inbox shares: the document around it, and headers that let it load and be sent nowhere else.
 * @module
 */
import { createHash } from 'node:crypto'
import { html, raw } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'
import type { Signed } from './signed.ts'
import { STYLE } from './style.ts'

/** Escaped HTML. */
export type Html = HtmlEscapedString | Promise<HtmlEscapedString>

/** Who looks, and when. */
export interface Show {
  readonly signed: Signed
  /** Path of the inbox. */
  readonly base: string
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** One page, before its frame. */
export interface Frame {
  readonly title: string
  readonly body: Html
  /** Set where somebody is signed in. */
  readonly signed?: Signed
  /** Where Refresh leads. */
  readonly here?: string
  /** The page shows nothing to decide and something that will change: it looks again by itself. */
  readonly watches?: boolean
}

/**
 * Only on pages without a decision: a page that moved while somebody reached for a button could take the click for another
 * card. Waits while the page is hidden, used by keyboard, or read with a selection.
 */
const WATCH = `setInterval(() => {
  const used = document.hidden || document.activeElement !== document.body || String(getSelection()) !== ''
  if (!used) location.reload()
}, 10000)`

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** Builds the frame. `base` is the path of the inbox. */
export function createFrame(base: string): {
  readonly headers: Readonly<Record<string, string>>
  page(frame: Frame): Html
} {
  const policy = [
    "default-src 'none'",
    `style-src ${hashOf(STYLE)}`,
    `script-src ${hashOf(WATCH)}`,
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ]
  const headers = {
    'content-security-policy': policy.join('; '),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    // Not `no-referrer`: under it browsers send `Origin: null` with every form, so that no form could prove its site.
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
  }

  return {
    headers,
    page: ({ title, body, signed, here, watches }) => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title} · Tollgate</title>
<style>${raw(STYLE)}</style>
</head>
<body>
<header class="top">
<a class="brand" href="${base}">Tollgate</a>
${
  signed &&
  html`<nav aria-label="Inbox">
<a href="${here}">Refresh</a>
<form method="post" action="${base}/sign-out">
<input type="hidden" name="csrf" value="${signed.csrf}">
<button class="plain">Sign out</button>
</form>
</nav>`
}
</header>
<main>
${body}
</main>
${watches && html`<script>${raw(WATCH)}</script>`}
</body>
</html>
`,
  }
}
