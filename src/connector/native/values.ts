/**
 * What a brand states to connect a vendor: fields, most of them secret, and where the host's environment has them.
 * @module
 */
import type { z } from 'zod'

/** Fields by name. Text only: what a person pastes, what an environment variable holds. */
export type Values = Readonly<Record<string, string>>

/** One thing that a brand states to connect a vendor. */
export interface Field {
  /** What it is and where a person finds it. */
  readonly title: string
  /** What counts as one; the messages of its checks go to the person who typed it, and never quote it. */
  readonly schema: z.ZodType<string>
  /** The host's environment variable that holds it for the owner's brand. */
  readonly env?: string
  /** Only where the field may be seen again: a shop's domain, a region. What does not say so is a secret. */
  readonly secret?: false
  readonly optional?: true
  /** Stated only where that other field is not: one of two ways to sign in. */
  readonly unless?: string
}

/** Headers that carry a credential. */
export type Headers = Readonly<Record<string, string>>

/** What does not say that it may be seen is a secret. */
export const isSecret = (field: Field | undefined): boolean => field?.secret !== false

/** The fields that may be seen, by name. A name that nobody declared is not among them. */
export function settingsOf(fields: Readonly<Record<string, Field>>, values: Values): Values {
  return Object.fromEntries(
    Object.entries(values).filter(([name]) => Object.hasOwn(fields, name) && !isSecret(fields[name])),
  )
}

/** What is wrong with the fields a person states, a sentence each; no sentence holds a value. */
export function fieldProblems(
  fields: Readonly<Record<string, Field>>,
  values: Readonly<Record<string, unknown>>,
): { readonly field: string; readonly problem: string }[] {
  const known = Object.keys(fields).join(', ')
  const strange = Object.keys(values).filter((name) => !Object.hasOwn(fields, name))
  return [
    ...strange.map((name) => ({ field: name, problem: `is not a field of this connector; known: ${known}.` })),
    ...Object.entries(fields).flatMap(([name, { schema, title, optional, unless }]) => {
      const value = Object.hasOwn(values, name) ? values[name] : undefined
      const instead = unless !== undefined && Object.hasOwn(values, unless)
      if (value === undefined) return optional || instead ? [] : [{ field: name, problem: `is missing: ${title}` }]
      if (instead) return [{ field: name, problem: `is stated beside ${unless}; state one of the two.` }]
      if (typeof value !== 'string') return [{ field: name, problem: 'is a text.' }]
      if (!PRINTABLE.test(value))
        return [{ field: name, problem: 'has blanks at its ends or characters no header can carry.' }]
      const read = schema.safeParse(value)
      return read.success
        ? []
        : [{ field: name, problem: `is not ${title}. ${read.error.issues[0]?.message ?? ''}`.trim() }]
    }),
  ]
}

/** Visible ASCII and blanks between: what may go into a header. */
const PRINTABLE = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/

/** The fields as the host's environment has them; undefined unless all that must be there are there and sound. */
export function fromEnvironment(
  fields: Readonly<Record<string, Field>>,
  env: Readonly<Record<string, string | undefined>>,
): Values | undefined {
  const found = Object.entries(fields).flatMap(([name, field]) => {
    const value = field.env === undefined ? undefined : env[field.env]
    return value === undefined || value === '' ? [] : [[name, value] as const]
  })
  const values = Object.fromEntries(found)
  return found.length > 0 && fieldProblems(fields, values).length === 0 ? values : undefined
}
