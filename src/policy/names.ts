/**
 * Tool names: the canonical form, what people may write for it, and what matches what.
 * Canonical is `mcp__<connector>__<tool>`; built-in harness tools keep their bare name.
 * Anything that is not exactly one of the accepted spellings is no match (design, section 1).
 * @module
 */

/** A connector's slug: no `__` inside and no `_` at an end, so that a name splits in one way only. */
export const SLUG = /^[A-Za-z0-9](?:[A-Za-z0-9-]|_(?!_))*(?<!_)$/
const PART = /^[A-Za-z0-9_-]+$/
const BARE = /^[A-Z][A-Za-z]*$/

/** `mcp__<connector>__<tool>` for a connector's tool. */
export function canonical(connector: string, tool: string): string {
  return `mcp__${connector}__${tool}`
}

/** Splits a canonical name; undefined when it is not one. */
export function split(name: string): { connector: string; tool: string } | undefined {
  if (!name.startsWith('mcp__')) return undefined
  const at = name.indexOf('__', 5)
  if (at < 0) return undefined
  const connector = name.slice(5, at)
  const tool = name.slice(at + 2)
  if (!SLUG.test(connector) || (tool !== '*' && !PART.test(tool))) return undefined
  return { connector, tool }
}

/**
 * Brings what a person or host wrote into canonical form: `mcp__c__t`, `c__t`, `c/t`, a bare built-in name,
 * and `*` as the whole tool part. Returns undefined for everything else (case, lookalikes, spaces, partial patterns).
 */
export function normalise(written: string): string | undefined {
  if (written.startsWith('mcp__')) return split(written) === undefined ? undefined : written
  if (BARE.test(written)) return written
  const slash = written.indexOf('/')
  if (slash >= 0 && !SLUG.test(written.slice(0, slash))) return undefined
  const full = slash >= 0 ? canonical(written.slice(0, slash), written.slice(slash + 1)) : `mcp__${written}`
  return split(full) === undefined ? undefined : full
}

/** Whether `pattern` (canonical, or with `*` as the whole tool part) covers the canonical `name`. */
export function covers(pattern: string, name: string): boolean {
  if (pattern === name) return true
  if (!pattern.endsWith('__*')) return false
  const whole = split(pattern)
  return whole?.tool === '*' && split(name)?.connector === whole.connector
}
