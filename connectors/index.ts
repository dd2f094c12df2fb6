/**
 * The native connectors this gateway ships, one line each. There are none yet: every tool comes from an MCP upstream.
 * @module
 */
export const connectors = [] as const
