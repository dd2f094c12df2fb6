/**
 * What a form sends, and whether it was this site's.
 * @module
 */
import type { Context } from 'hono'

/** The fields of a plain HTML form; none for any other body. */
export async function fieldsOf(c: Context): Promise<URLSearchParams> {
  const isForm = /^application\/x-www-form-urlencoded *(;|$)/i.test(c.req.header('content-type') ?? '')
  return new URLSearchParams(isForm ? await c.req.text() : '')
}

/**
 * Whether a request may come from this site's own page, by what the browser says of it (Fetch, "Origin header";
 * Fetch Metadata, `Sec-Fetch-Site`). `origin` is the public one; behind another name, Origin and Host must agree.
 * A client that says nothing is no browser with somebody's cookie; the form's token still has to be right.
 */
export function sameSite(c: Context, origin: string): boolean {
  const site = c.req.header('sec-fetch-site')
  if (site !== undefined && site !== 'same-origin') return false
  const from = c.req.header('origin')?.toLowerCase()
  if (from === undefined || from === origin) return true
  return from !== 'null' && URL.parse(from)?.host === c.req.header('host')?.toLowerCase()
}
