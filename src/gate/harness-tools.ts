/**
 * The harness's own tools as the gateway sees them: its built-ins, which it runs itself once it is told that it may, and
 * the permission prompt, by which it asks.
 * @module
 */
import { createHash } from 'node:crypto'
import type { RegisteredTool } from '../connector/connector.ts'
import { canonical } from '../policy/names.ts'

/** The connector that stands for the harness. No upstream can have this name. */
export const HARNESS = 'harness'

/** Under which names a client's configuration holds this gateway; the first is the one in the ready configurations. */
export const SERVERS = ['gateway', 'tollgate'] as const

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/**
 * The deployment's built-ins by bare name. What is not said to be a read counts as a write, so a person decides it.
 * The access is part of the digest: an approval given under another word does not hold.
 */
export function builtinTools(
  names: readonly string[],
  access: Readonly<Record<string, 'read' | 'write'>>,
): ReadonlyMap<string, RegisteredTool> {
  return new Map(names.map((name) => [name, builtin(name, access[name] === 'read' ? 'read' : 'write')]))
}

function builtin(name: string, access: 'read' | 'write'): RegisteredTool {
  return {
    name,
    connector: HARNESS,
    upstream: HARNESS,
    access,
    ask: false,
    grantable: false,
    upstreamName: name,
    ownName: name,
    title: name,
    description: `The harness's own ${name}.`,
    definition: { legacy: '', modern: '' },
    digest: digestOf(`builtin ${name} ${access}`),
  }
}

const description =
  'For the harness, not for the model: asks whether a built-in tool may run, as --permission-prompt-tool of Claude Code ' +
  'does. A read is allowed, a write waits for a person.'

const definition = `,${JSON.stringify({
  description,
  inputSchema: {
    type: 'object',
    properties: {
      tool_name: { type: 'string', description: 'The tool the harness is about to run.' },
      input: { type: 'object', description: 'Its exact input.' },
      tool_use_id: { type: 'string', description: 'The harness’s own id of the call.' },
    },
    required: ['tool_name', 'input'],
  },
  // A file to be written comes back whole in the answer, so the client must not cut it.
  _meta: { 'anthropic/maxResultSizeChars': 500_000 },
}).slice(1, -1)}`

/** The tool that Claude Code's `--permission-prompt-tool` calls. */
export const PERMISSION_PROMPT: RegisteredTool = {
  name: canonical(HARNESS, 'permission_prompt'),
  connector: HARNESS,
  upstream: HARNESS,
  access: 'read',
  ask: false,
  asks: 'never',
  grantable: false,
  decidesBuiltins: true,
  upstreamName: 'permission_prompt',
  ownName: 'permission_prompt',
  title: 'Permission prompt',
  description,
  definition: { legacy: definition, modern: definition },
  digest: digestOf(definition),
}

/** What the card of a built-in says when it is done: whether the harness ran it, the gateway cannot know. */
export const HANDED_OVER = { handedTo: HARNESS, detail: 'Handed to the harness to run; the gateway did not run it.' }
