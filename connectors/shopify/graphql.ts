/**
 * The one tool for the whole Admin API: queries run freely, each mutation needs the operator's switch and a person.
 * @module
 */
import { z } from 'zod'
import { body, type Reply, Refusal } from '../../src/connector/native/kit.ts'
import { type Envelope, envelopeOf, refusalOf, tellsUserErrors, userErrorsIn, warningsOf } from './answer.ts'
import { endpoint, versionOf } from './connection.ts'
import { type Chosen, choose, LONGEST } from './document.ts'
import { sentenceOf } from './words.ts'

const NAME = /^[_A-Za-z][_0-9A-Za-z]{0,199}$/
/** Most characters of variables, and of an answer's data. */
const LONGEST_VARIABLES = 100_000
const LONGEST_DATA = 100_000

const input = z.strictObject({
  query: z
    .string()
    .min(1)
    .max(LONGEST)
    .describe(
      'A GraphQL document: queries or mutations, and fragments. Ask for userErrors { field message } in a mutation.',
    ),
  variables: z.record(z.string().regex(NAME), z.unknown()).default({}).describe('Values of its variables, by name.'),
  operationName: z
    .string()
    .regex(NAME, 'a name of an operation')
    .optional()
    .describe('Which operation runs, where the document holds several.'),
})

export const adminGraphql = body({
  title: 'Use the Admin GraphQL API',
  description:
    'Runs one operation of a GraphQL document against the Admin API of the shop. A query runs at once; a mutation is decided by a person each time, and runs only where the operator allows changes. Subscriptions are not run. A query may ask for 1,000 cost points; pages of 250 at most.',
  input,
  mutates: ({ query, operationName }) => choose(query, operationName).kind !== 'query',
  refuse({ query, operationName, variables }) {
    choose(query, operationName)
    return JSON.stringify(variables).length > LONGEST_VARIABLES
      ? new Refusal('forbidden_arguments', `The variables are longer than ${LONGEST_VARIABLES} characters.`)
      : undefined
  },
  summary: ({ query, operationName, variables }, { shop = '' }) =>
    sentenceOf(choose(query, operationName), variables, shop),
  async run({ args, http, settings }) {
    const chosen = choose(args.query, args.operationName)
    const mutation = chosen.kind === 'query' ? undefined : { keys: keysOf(chosen) }
    const reply = await http.post<Envelope>(endpoint(settings), {
      json: { query: chosen.text, variables: args.variables, operationName: chosen.name },
      safe: chosen.kind === 'query',
      refusal: (answer) => refusalOf(answer, mutation),
    })
    const notes = mutation === undefined ? [] : notesOn(reply)
    const said = warningsOf(reply, versionOf(settings))
    const warnings = [...notes, ...(said.warnings ?? [])]
    const { data, extensions } = envelopeOf(reply.json)
    return {
      ...shown(data),
      ...(warnings.length > 0 && { warnings }),
      ...(extensions?.cost !== undefined && { cost: extensions.cost }),
    }
  },
})

/** The names under which the fields at the root are answered. */
const keysOf = ({ roots }: Chosen): string[] => roots.map(({ alias, name }) => (alias ?? name).value)

/** What a mutation did not do, or may not have done. */
function notesOn({ json }: Reply<unknown>): string[] {
  return Object.entries(envelopeOf(json).data ?? {}).flatMap(([key, payload]) => {
    if (payload === null) return []
    const errors = userErrorsIn(payload)
    if (errors.length > 0) return [`Not done, or not all of it: ${key}: ${errors.join(' ')}`]
    if (tellsUserErrors(payload)) return []
    return [`${key} was not asked for its userErrors, so a refusal would not be seen; read what came of it.`]
  })
}

function shown(data: Envelope['data']): { data?: unknown; cut?: string } {
  const text = JSON.stringify(data ?? null)
  if (text.length <= LONGEST_DATA) return { data }
  return {
    cut: `${text.slice(0, LONGEST_DATA)}\n[cut: ${text.length} characters in all; ask for fewer fields or smaller pages]`,
  }
}
