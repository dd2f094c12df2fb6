/**
 * Ready configuration for clients. The token is never in it: each reads a variable, so that nothing is left in a file
 * or a process list.
 * @module
 */
import { z } from '@hono/zod-openapi'
import { PERMISSION_PROMPT, SERVERS } from '../../gate/harness-tools.ts'
import { PRE_TOOL_USE } from '../hooks.ts'

const VARIABLE = 'GATEWAY_TOKEN'
const SERVER = SERVERS[0]
/** Longer than any usual wait for a person; where it ends first, the hook blocks. In seconds. */
const HOOK_SECONDS = 600
const headers = { Authorization: `Bearer \${${VARIABLE}}` }

const mcpServers = z.record(z.string(), z.unknown())

/** The answer's `configs`. */
export const configs = z.object({
  claudeCode: z.object({
    command: z.string(),
    mcpServers,
    run: z.string().openapi({ description: 'Starts Claude Code with this session’s tools and no others.' }),
    permissionPrompt: z
      .object({ flag: z.string(), settings: z.record(z.string(), z.unknown()) })
      .optional()
      .openapi({
        description:
          'Where the harness may ask before it runs a built-in: the flag for -p, or the PreToolUse hook for its settings file. One of the two is enough.',
      }),
  }),
  agentSdk: z
    .object({
      mcpServers,
      tools: z.array(z.string()).openapi({
        description: 'Every tool the session has: built-ins, and the gateway’s under the names the harness gives them.',
      }),
      strictMcpConfig: z.literal(true),
      settingSources: z.array(z.string()),
    })
    .openapi({ description: 'Options of the Agent SDK; the host adds canUseTool. There is no allowedTools in them.' }),
  mcpJson: z.object({ mcpServers }),
  hermes: z.string(),
  codex: z.string(),
})

/** What a session holds, as far as a harness must be told. */
export interface Held {
  readonly builtins: readonly string[]
  readonly tools: readonly { readonly listedAs: string }[]
}

/**
 * Snippets for one MCP URL and what one session holds; without `held`, for a session that holds nothing.
 * `allowedTools` is never among them: an entry there runs unasked, past the harness's own permission callback
 * (seed 001, "How a session's tools are decided").
 */
export function configsFor(url: string, held: Held = { builtins: [], tools: [] }): z.input<typeof configs> {
  // Claude Code drops a call whose first byte takes over 60 s; a held call sends its own at once, and may then take long.
  const gateway = { type: 'http', url, headers, timeout: 600_000 }
  const listed = held.tools.map(({ listedAs }) => listedAs)
  return {
    claudeCode: {
      command: `claude mcp add --transport http ${SERVER} ${quoted(url)} --header 'Authorization: Bearer \${${VARIABLE}}'`,
      mcpServers: { [SERVER]: gateway },
      // `--tools` chooses among the harness's own tools: with nothing behind it none, left out all.
      run: `claude --mcp-config=gateway.mcp.json --strict-mcp-config --tools=${held.builtins.map(quoted).join(',')}`,
      ...(listed.includes(PROMPT) && {
        permissionPrompt: { flag: `--permission-prompt-tool mcp__${SERVER}__${PROMPT}`, settings: hookSettings(url) },
      }),
    },
    agentSdk: {
      mcpServers: { [SERVER]: gateway },
      tools: [...held.builtins, ...listed.filter((name) => name !== PROMPT).map((name) => `mcp__${SERVER}__${name}`)],
      strictMcpConfig: true,
      settingSources: [],
    },
    mcpJson: { mcpServers: { [SERVER]: { type: 'http', url, headers } } },
    hermes: [
      'mcp_servers:',
      `  ${SERVER}:`,
      `    url: ${JSON.stringify(url)}`,
      '    headers:',
      `      Authorization: "Bearer \${${VARIABLE}}"`,
      '    timeout: 300',
      '    sampling: { enabled: false }',
      '    tools: { resources: false, prompts: false }',
      '',
    ].join('\n'),
    codex: [
      `[mcp_servers.${SERVER}]`,
      `url = ${JSON.stringify(url)}`,
      `bearer_token_env_var = "${VARIABLE}"`,
      'tool_timeout_sec = 300',
      'default_tools_approval_mode = "approve"',
      '',
    ].join('\n'),
  }
}

/** The name under which `/mcp` lists the permission prompt. */
const PROMPT = PERMISSION_PROMPT.name.slice('mcp__'.length)

/**
 * The hook that asks before every tool. A hook that fails lets the tool run unless it says `onFailure` (Claude Code
 * 2.1.295 and later).
 */
function hookSettings(url: string) {
  const hook = {
    type: 'http',
    url: new URL(PRE_TOOL_USE, url).href,
    headers,
    allowedEnvVars: [VARIABLE],
    timeout: HOOK_SECONDS,
    onFailure: 'block',
  }
  return { hooks: { PreToolUse: [{ hooks: [hook] }] } }
}

/** Safe in a shell: addresses with `&` or blanks are quoted. */
const quoted = (text: string) => (/^[A-Za-z0-9:/.,_~-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
