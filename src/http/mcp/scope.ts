/**
 * Which tools a door shows, by its path.
 * @module
 */
import { SLUG } from '../../policy/names.ts'

/** All tools, under `<connector>__<tool>` (undefined), or one connector's under their own names (its slug). */
export type Scope = string | undefined

/** The door of a path, or undefined when the path is no MCP endpoint. A trailing slash makes no difference. */
export function scopeOf(path: string): { readonly scope: Scope } | undefined {
  if (path === '/mcp' || path === '/mcp/') return { scope: undefined }
  if (!path.startsWith('/mcp/')) return undefined
  const slug = path.endsWith('/') ? path.slice(5, -1) : path.slice(5)
  return SLUG.test(slug) ? { scope: slug } : undefined
}
