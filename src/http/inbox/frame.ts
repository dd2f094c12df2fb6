/**
 * What every page of the inbox shares: the document around it, and headers that let it load and be sent nowhere else.
 * @module
 */
import { html } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'
import type { Signed } from './signed.ts'

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
  /** Which of the pages in the navigation this is. */
  readonly at?: Place
  /** Address of the events that change this page; without JavaScript it stays as it is. */
  readonly events?: string
  /** Milliseconds since the epoch, so that times count down by the gateway's clock. */
  readonly now?: number
}

const PLACES = [
  ['inbox', '', 'Inbox'],
  ['history', '/history', 'History'],
  ['standing', '/standing', 'Standing approvals'],
  ['routines', '/routines', 'Routines'],
  ['tools', '/tools', 'Tools'],
] as const
export type Place = (typeof PLACES)[number][0]

/**
 * Headers of every answer. Nothing is loaded but the inbox's own style and script, and nothing written in a page runs,
 * whatever got into it.
 */
export const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "connect-src 'self'",
    "img-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  // Not `no-referrer`: under it browsers send `Origin: null` with every form, so that no form could prove its site.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/** Builds the frame. `base` is the path of the inbox, `version` changes with its style and script. */
export function createFrame(base: string, version: string): (frame: Frame) => Html {
  return ({ title, body, signed, at, events, now }) => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title} · Tollgate</title>
<link rel="icon" href="${base}/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${base}/inbox.css?${version}">
<script src="${base}/inbox.js?${version}" defer></script>
</head>
<body data-base="${base}"${events !== undefined && html` data-events="${events}"`}${now !== undefined && html` data-now="${now}"`}>
<a class="skip" href="#main">Skip to the content</a>
<header class="top">
<a class="brand" href="${base}">Tollgate</a>
${signed && navigation(base, signed, at)}
</header>
<main id="main" tabindex="-1">
${body}
</main>
${signed && footer}
</body>
</html>
`
}

function navigation(base: string, { person, csrf }: Signed, at: Place | undefined): Html {
  const who = person.kind === 'operator' ? 'Operator' : `${person.name}, ${person.brand}`
  return html`<nav aria-label="Inbox"><ul>${PLACES.map(
    ([place, path, words]) =>
      html`<li><a href="${base}${path}"${place === at && html` aria-current="page"`}>${words}</a></li>`,
  )}</ul></nav>
<form method="post" action="${base}/sign-out">
<span class="who">${who}</span>
<input type="hidden" name="csrf" value="${csrf}">
<button class="plain">Sign out</button>
</form>`
}

/** What only works with JavaScript is hidden until the script shows it. */
const footer = html`<footer>
<p class="unseen" role="status" id="told"></p>
<div id="extras" hidden>
<button class="plain" id="notify" hidden>Notify me on this device</button>
<button class="plain" id="shortcuts" aria-pressed="false">Keyboard shortcuts: <span>off</span></button>
<p class="small" id="keys" hidden><kbd>j</kbd> next call <kbd>k</kbd> previous call <kbd>o</kbd> open it <kbd>f</kbd> filter <kbd>u</kbd> back to the inbox. No key decides anything by itself.</p>
</div>
</footer>`
