/**
 * Shopify's contract: the Admin API's endpoint, which takes what its published schema allows (`shopify.graphql`, written by
 * refresh-shopify.ts) and answers what that schema makes of given values, and the endpoint for tokens.
 * @module
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildSchema, executeSync, getVariableValues, type OperationDefinitionNode, parse, validate } from 'graphql'
import type { Contract, Judge } from '../contract.ts'
import type { Answer, Seen } from '../standin.ts'

const schema = buildSchema(readFileSync(join(import.meta.dirname, 'shopify.graphql'), 'utf8'))

interface Sent {
  readonly query: string
  readonly variables?: Record<string, unknown>
  readonly operationName?: string
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

const strangers = (value: object, known: string): string[] =>
  Object.keys(value)
    .filter((key) => !known.split(' ').includes(key))
    .map((key) => `/${key} is not in the contract`)

/** A request: one operation, valid by the schema, with variables of the right types. */
const isRequest: Judge = (value) => {
  if (!isObject(value)) return ['/ is no object']
  const { query, variables, operationName } = value as unknown as Sent
  const document = parse(query)
  const operations = document.definitions.filter((one) => one.kind === 'OperationDefinition')
  const [operation] = operations as OperationDefinitionNode[]
  const invalid = validate(schema, document).map(({ message }) => `/query ${message}`)
  if (operation === undefined || operations.length !== 1) return ['/query holds more or less than one operation']
  const { errors = [] } = getVariableValues(schema, operation.variableDefinitions ?? [], variables ?? {})
  return [
    ...strangers(value, 'query variables operationName'),
    ...invalid,
    ...errors.map(({ message }) => `/variables ${message}`),
    ...(operationName === undefined || operationName === operation.name?.value
      ? []
      : ['/operationName is not the operation’s']),
  ]
}

/** An answer with status 200: data, or faults with a message each, or both. */
const isAnswer: Judge = (value) => {
  if (!isObject(value)) return ['/ is no object']
  const { data, errors } = value
  const faults = Array.isArray(errors) ? errors : []
  return [
    ...strangers(value, 'data errors extensions'),
    ...(isObject(data) || faults.length > 0 ? [] : ['/ has neither data nor errors']),
    ...faults.flatMap((one, i) => (typeof one?.message === 'string' ? [] : [`/errors/${i} has no message`])),
  ]
}

/** Other statuses: `errors` is a text or an object. */
const isRefusal: Judge = (value) =>
  isObject(value) && (typeof value.errors === 'string' || isObject(value.errors))
    ? []
    : ['/errors is no text or object']

const isTokenRequest: Judge = (value) => {
  if (!isObject(value)) return ['/ is no form']
  const missing = ['client_id', 'client_secret'].filter((key) => typeof value[key] !== 'string')
  return [
    ...strangers(value, 'grant_type client_id client_secret'),
    ...missing.map((key) => `/${key} is missing`),
    ...(value.grant_type === 'client_credentials' ? [] : ['/grant_type is not client_credentials']),
  ]
}

const isToken: Judge = (value) =>
  isObject(value) && typeof value.access_token === 'string' && typeof value.expires_in === 'number'
    ? strangers(value, 'access_token scope expires_in')
    : ['/ has no access_token and expires_in']

export const GRAPHQL = 'POST /admin/api/{version}/graphql.json'
export const TOKEN = 'POST /admin/oauth/access_token'

export const shopifyContract: Contract = [
  {
    method: 'POST',
    path: '/admin/api/{version}/graphql.json',
    pathParameters: (given) =>
      /^20\d\d-(?:01|04|07|10)$/.test((given as { version: string }).version) ? [] : ['version is none'],
    query: (given) => strangers(given as object, ''),
    body: isRequest,
    answers: { 200: isAnswer, 401: isRefusal, 402: isRefusal, 403: isRefusal, 404: isRefusal, 423: isRefusal },
  },
  {
    method: 'POST',
    path: '/admin/oauth/access_token',
    body: isTokenRequest,
    answers: { 200: isToken, 400: (value) => (isObject(value) && typeof value.error === 'string' ? [] : ['no error']) },
  },
]

const COST = {
  requestedQueryCost: 12,
  actualQueryCost: 4,
  throttleStatus: { maximumAvailable: 2000, currentlyAvailable: 1996, restoreRate: 100 },
}

/**
 * Answers a request with what the schema makes of these values at its root; fields that are not given are null. Throws
 * where the schema does not allow that, so that no test believes in an answer Shopify cannot give.
 */
export const answering =
  (values: object, more: { errors?: object[]; version?: string } = {}) =>
  ({ body }: Seen): Answer => {
    const { query, variables, operationName } = body as Sent
    const made = executeSync({
      schema,
      document: parse(query),
      rootValue: values,
      variableValues: variables ?? null,
      operationName: operationName ?? null,
    })
    const problems = made.errors?.map(({ message }) => message) ?? []
    if (problems.length > 0) throw new Error(`The schema does not allow this answer: ${problems.join(' ')}`)
    return {
      json: { data: made.data, ...(more.errors && { errors: more.errors }), extensions: { cost: COST } },
      headers: { 'x-shopify-api-version': more.version ?? '2026-10' },
    }
  }
