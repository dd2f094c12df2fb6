/**
 * Ready configuration for clients. The token is never in it: each reads a variable, so that nothing is left in a file
 * or a process list.
 * @module
 */

const VARIABLE = 'GATEWAY_TOKEN'
const headers = { Authorization: `Bearer \${${VARIABLE}}` }

/** Snippets for one MCP URL. */
export function configsFor(url: string) {
  // Claude Code drops a call whose first byte takes over 60 s; a held call sends its own at once, and may then take long.
  const gateway = { type: 'http', url, headers, timeout: 600_000 }
  return {
    claudeCode: {
      command: `claude mcp add --transport http gateway ${quoted(url)} --header 'Authorization: Bearer \${${VARIABLE}}'`,
      mcpServers: { gateway },
    },
    mcpJson: { mcpServers: { gateway: { type: 'http', url, headers } } },
    hermes: [
      'mcp_servers:',
      '  gateway:',
      `    url: ${JSON.stringify(url)}`,
      '    headers:',
      `      Authorization: "Bearer \${${VARIABLE}}"`,
      '    timeout: 300',
      '    sampling: { enabled: false }',
      '    tools: { resources: false, prompts: false }',
      '',
    ].join('\n'),
    codex: [
      '[mcp_servers.gateway]',
      `url = ${JSON.stringify(url)}`,
      `bearer_token_env_var = "${VARIABLE}"`,
      'tool_timeout_sec = 300',
      'default_tools_approval_mode = "approve"',
      '',
    ].join('\n'),
  }
}

/** Safe in a shell: addresses with `&` or blanks are quoted. */
const quoted = (text: string) => (/^[A-Za-z0-9:/._~-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
