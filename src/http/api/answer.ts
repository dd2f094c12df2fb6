/**
 * How routes are described and answered: what goes out is typed by the very schema that the OpenAPI document shows.
 * @module
 */
import type { z } from '@hono/zod-openapi'
import { problemDocument } from './schemas.ts'

const PROBLEMS = {
  404: 'There is no such thing.',
  409: 'Somebody was first.',
  422: 'The request breaks rules; `errors` names each.',
  503: 'The database or the audit cannot be reached.',
} as const

type Answers = Record<string, { description: string }>

const asProblem = (description: string) => ({
  description,
  content: { 'application/problem+json': { schema: problemDocument } },
})

/** The answers of a route: its own, 401 and 500 as everywhere, and the problems named. */
export function answers(
  status: 200 | 201,
  description: string,
  schema: z.ZodType,
  ...problems: (keyof typeof PROBLEMS)[]
): Answers {
  const own = { description, content: { 'application/json': { schema } } }
  const listed = problems.map((number) => [String(number), asProblem(PROBLEMS[number])] as const)
  return {
    [status]: own,
    401: asProblem('The key is missing, wrong, or not one for this route.'),
    500: asProblem('The gateway failed inside.'),
    ...Object.fromEntries(listed),
  }
}

/** A JSON answer whose value has the schema's type. */
export function answer<S extends z.ZodType>(_schema: S, value: z.input<S>, status = 200): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  })
}

/** A body that must be there, or that may be left out. */
export const body = <S extends z.ZodType>(schema: S, required = true) => ({
  required,
  content: { 'application/json': { schema } },
})
