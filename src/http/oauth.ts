/**
 * Where a browser comes back to after a person consented, and what authorization servers read of this gateway.
 * @module
 */
import { createHash } from 'node:crypto'
import { Hono } from 'hono'
import { html, raw } from 'hono/html'
import { AuditUnavailable } from '../audit/audit.ts'
import { describeClient } from '../connector/oauth/client.ts'
import { DatabaseUnavailable } from '../db/errors.ts'
import type { Consenting } from '../grants/connections/oauth/connect.ts'
import { CALLBACK, CLIENT_DOCUMENT, documentUrlOf } from '../grants/connections/oauth/oauth.ts'
import { notFound } from './problem.ts'

export interface OauthPagesParts {
  readonly consenting: Pick<Consenting, 'finish'>
  readonly publicUrl: string
  readonly log: { error(facts: object, message: string): void }
}

const STYLE = `body{margin:0;background:#f6f5f1;color:#1d2421;font:17px/1.55 system-ui,sans-serif}
main{max-width:30rem;margin:18vh auto 0;padding:0 1.5rem}
h1{font-size:1.45rem;line-height:1.25;margin:0 0 .6rem;font-weight:600}
p{margin:0 0 .8rem}.quiet{color:#55605b}
@media(prefers-color-scheme:dark){body{background:#161a18;color:#e7ebe8}.quiet{color:#a2ada8}}`

/**
 * Nothing is loaded, nothing runs, nothing is framed or kept, and the address, in which the code stands, is told to
 * nobody.
 */
const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    // The one style below, and no other.
    `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/** Builds the routes. */
export function createOauthPages({ consenting, publicUrl, log }: OauthPagesParts): Hono {
  const app = new Hono()

  app.get(CALLBACK, async (c) => {
    const ended = await consenting.finish(new URL(c.req.url).searchParams).catch((error: unknown) => {
      const isAway = error instanceof DatabaseUnavailable || error instanceof AuditUnavailable
      if (!isAway) log.error({ err: error }, 'a consent could not be ended')
      return undefined
    })
    if (ended === undefined) {
      return page(503, 'The gateway could not finish this', 'Nothing was connected. Begin again in a few minutes.')
    }
    if (!ended.ok) return page(400, 'Nothing was connected', ended.said)
    return page(200, 'It is connected', `${ended.slug} is connected for ${ended.brand}.`)
  })

  app.get(CLIENT_DOCUMENT, (c) => {
    const id = documentUrlOf(publicUrl)
    if (id === undefined) return notFound('Only a gateway with an https address has a client document.')
    const document = {
      client_id: id,
      client_uri: publicUrl,
      ...describeClient(publicUrl + CALLBACK),
      token_endpoint_auth_method: 'none',
    }
    return c.json(document, 200, { 'access-control-allow-origin': '*', 'cache-control': 'public, max-age=3600' })
  })

  return app
}

async function page(status: number, title: string, more: string): Promise<Response> {
  const text = await html`<!doctype html>
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
<main>
<h1>${title}</h1>
<p>${more}</p>
<p class="quiet">You can close this page.</p>
</main>
</body>
</html>
`
  return new Response(String(text), { status, headers: { ...HEADERS, 'content-type': 'text/html; charset=utf-8' } })
}
