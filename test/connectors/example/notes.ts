/**
 * Notes: one tool that reads, one that writes and asks a person.
 * @module
 */
import { z } from 'zod'
import {
  body,
  type ConnectionKind,
  defineConnector,
  GRANTABLE_READ,
  path,
  Refusal,
} from '../../../src/connector/native/kit.ts'

const connection: ConnectionKind = {
  fields: {
    token: { title: 'an access token (Settings, Tokens)', schema: z.string().min(10), env: 'NOTES_TOKEN' },
    space: { title: 'the name of a space', schema: z.string().regex(/^[a-z]+$/), env: 'NOTES_SPACE', secret: false },
  },
  baseUrl: ({ space }) => `https://${space}.notes.example/v1`,
  authorize: ({ token }) => ({ authorization: `Bearer ${token}` }),
  check: async (http) => `Signed in as ${(await http.get<{ name: string }>(path`/me`)).json.name}.`,
}

const id = z.string().min(1).max(64).describe('As in the address of the note.')

const read = body({
  title: 'Read a note',
  description: 'Reads one note by its id.',
  input: z.strictObject({ id }),
  async run({ args, http }) {
    const { json } = await http.get<{ title: string; text: string }>(path`/notes/${args.id}`)
    return { title: json.title, text: json.text.slice(0, 100_000) }
  },
})

const write = body({
  title: 'Replace a note',
  description: 'Replaces the whole text of one note. What was there before is gone.',
  input: z.strictObject({ id, text: z.string().max(50_000) }),
  refuse: (args, { space }) =>
    args.id === 'home'
      ? new Refusal('forbidden_arguments', `The home note of ${space} is for people alone.`)
      : undefined,
  summary: (args) => `Replace the text of the note ${args.id}.`,
  async run({ args, http }) {
    const { json } = await http.put<{ version: number }>(path`/notes/${args.id}`, { json: { text: args.text } })
    return { version: json.version }
  },
})

export const notes = defineConnector({
  slug: 'notes',
  title: 'Notes',
  kind: 'connector',
  credentials: 'brand',
  when: 'The brand has connected Notes.',
  connection,
  tools: [
    { name: 'notes_read', ...GRANTABLE_READ, body: read },
    { name: 'notes_write', access: 'write', grantable: false, ask: 'always', withoutChannel: 'refuses', body: write },
  ],
  withheld: [{ what: 'Deleting notes', why: 'It cannot be undone.' }],
})
