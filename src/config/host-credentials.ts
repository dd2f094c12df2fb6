/**
 * Credentials of native connectors in the host's environment. They serve the owner's brand alone (seed 001, "Whose
 * credentials a session uses").
 * @module
 */
import type { DeclaredConnector } from '../connector/define.ts'
import { type Field, fieldProblems, fromEnvironment, type Values } from '../connector/native/values.ts'
import type { Env } from './expand.ts'

/**
 * What the environment holds, by connector. One that is there in part or cannot be right is left out, with a notice
 * that never holds a value.
 */
export function readHostCredentials(
  env: Env,
  catalogue: readonly DeclaredConnector[],
  notices: string[],
): Record<string, Values> {
  const found: Record<string, Values> = {}
  for (const { slug, title, connection } of catalogue) {
    if (connection === undefined || !isBegun(connection.fields, env)) continue
    const values = fromEnvironment(connection.fields, env)
    if (values !== undefined) found[slug] = values
    else notices.push(`${title} is not connected from the environment: ${wrongIn(connection.fields, env)}`)
  }
  return found
}

/** Whether any secret field is set: a region alone means nothing. */
function isBegun(fields: Readonly<Record<string, Field>>, env: Env): boolean {
  return Object.values(fields).some((field) => field.secret !== false && field.env !== undefined && env[field.env])
}

function wrongIn(fields: Readonly<Record<string, Field>>, env: Env): string {
  const written = Object.entries(fields).flatMap(([name, { env: variable }]) => {
    const value = variable === undefined ? undefined : env[variable]
    return value ? [[name, value]] : []
  })
  return fieldProblems(fields, Object.fromEntries(written))
    .map(({ field, problem }) => `${fields[field]?.env ?? field} ${problem}`)
    .join(' ')
}
