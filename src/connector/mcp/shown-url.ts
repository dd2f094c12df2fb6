/**
 * How an address is shown, since many an address is a secret.
 * @module
 */

/** Longest part of a path that is taken for a word. */
const WORD = 12

/** An address fit to be shown: host and path, without the query and with long parts of the path cut. */
export function shownUrl(written: string): string {
  const url = new URL(written)
  const parts = url.pathname.split('/').map((part) => (part.length > WORD ? `${part.slice(0, 3)}…` : part))
  return `${url.protocol}//${url.host}${parts.join('/')}${url.search === '' ? '' : '?…'}`
}

/** The parts of an address that may be secrets, for whoever takes them out of texts. */
export function secretsOfUrl(written: string): string[] {
  const url = URL.parse(written)
  if (url === null) return []
  const long = url.pathname.split('/').filter((part) => part.length > WORD)
  return [...long, ...url.searchParams.values()].flatMap((part) => [part, encodeURIComponent(part)])
}
