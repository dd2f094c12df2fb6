/**
 * Addresses that people write: whether they are ones, and whether they point inside.
 * Names are not resolved here; who connects checks again what a name resolves to.
 * @module
 */
import ipaddr from 'ipaddr.js'

/** The address as a URL when it is http or https and free of credentials; else why not. Never quotes it. */
export function webUrl(text: string): URL | string {
  const url = URL.parse(text)
  if (url === null) return 'is not a URL; write it whole, as in https://mcp.example/mcp.'
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return 'must begin with https:// (or http:// for this machine).'
  if (url.username !== '' || url.password !== '') return 'carries credentials; put them into a header.'
  return url
}

/** Where a URL's host, as written, points: `name` when only a resolver can tell. */
export function hostKind(url: URL): 'loopback' | 'private' | 'public' | 'name' {
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  if (host === 'localhost') return 'loopback'
  if (!ipaddr.isValid(host)) return 'name'
  const range = ipaddr.process(host).range()
  if (range === 'loopback') return 'loopback'
  return range === 'unicast' ? 'public' : 'private'
}

/** Like `webUrl`, for what must not travel in the clear: https, or http to this very machine. */
export function safeUrl(text: string): URL | string {
  const url = webUrl(text)
  if (typeof url === 'string' || url.protocol === 'https:' || hostKind(url) === 'loopback') return url
  return 'must begin with https:// (http:// is for this machine only).'
}
