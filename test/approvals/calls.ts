/**
 * Calls for tests to park.
 * @module
 */
import { randomUUID } from 'node:crypto'
import type { ToPark } from '../../src/approvals/park.ts'
import type { RegisteredTool } from '../../src/connector/connector.ts'
import type { Role, Session } from '../../src/policy/words.ts'

export const tool: RegisteredTool = {
  name: 'mcp__files__write_file',
  connector: 'files',
  access: 'write',
  ask: false,
  grantable: false,
  upstreamName: 'write_file',
  ownName: 'write_file',
  title: 'Write file',
  description: 'Writes a file.',
  definition: { legacy: '', modern: '' },
  digest: 'd'.repeat(64),
  upstream: 'u'.repeat(64),
}

const role: Role = {
  name: 'person-chat',
  title: 'Person chat',
  describes: 'A person in a chat.',
  asksPerson: true,
  builtins: [],
  holds: [],
  connectors: 'every',
  given: 'all',
  limits: {},
}

export function sessionOf(id: string): Session {
  return {
    id,
    issuer: 'https://gateway.example/mcp',
    subject: 'ann',
    brand: 'acme',
    role,
    route: { name: 'standard', describes: '', keeps: 'everything', connectors: true },
    ceiling: ['mcp__files__*'],
    grant: { connectors: [], skills: [], allowance: {} },
    channel: 'inbox',
    limits: {},
    issuedAt: 0,
    expiresAt: Number.MAX_SAFE_INTEGER,
    viewKey: 'view',
  }
}

/** A call of its own session, unless told otherwise. */
export function call(more: Partial<ToPark> & { sessionId?: string } = {}): ToPark {
  const { sessionId = randomUUID(), ...rest } = more
  return {
    session: sessionOf(sessionId),
    tool,
    fingerprint: randomUUID(),
    argumentsText: '{"path":"a.txt"}',
    extraText: '',
    metaText: '',
    reasons: [{ rule: 'write-asks', because: 'This tool may change something, so a person decides.' }],
    viewHash: 'v'.repeat(32),
    attempt: randomUUID(),
    ...rest,
  }
}
