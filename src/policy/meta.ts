/**
 * Which `_meta` keys belong to the hop and which to the people at its ends.
 * @module
 */

/**
 * Whether a `_meta` key is the hop's own and so never passed on: `progressToken`, any prefix whose second label is
 * `mcp` or `modelcontextprotocol` (MCP 2026-07-28, "General fields"), and this gateway's own prefix, which neither
 * side may forge.
 */
export function isReservedMeta(key: string): boolean {
  if (key === 'progressToken') return true
  const slash = key.indexOf('/')
  if (slash < 0) return false
  const labels = key.slice(0, slash).toLowerCase().split('.')
  return (
    labels[1] === 'mcp' || labels[1] === 'modelcontextprotocol' || (labels[0] === 'dev' && labels[1] === 'tollgate')
  )
}
