/**
 * What an operation would do, in words for a person: the fields at its root under their real names, with what they are
 * given.
 * @module
 */
import { type FieldNode, Kind, print, type ValueNode } from 'graphql'
import type { Chosen } from './document.ts'

/** Most characters of the list of names (all of which fit on a card), of the operation's name, of a field with its arguments. */
const LONGEST_LIST = 190
const LONGEST_NAME = 60
const LONGEST_FIELD = 240

/**
 * Where, and each field at the root with its arguments, variables filled in. Of several fields all names come first and
 * the name of the operation last, since a long text is cut on the card and its end could hide a change.
 */
export function sentenceOf(
  { kind, name, roots, operation }: Chosen,
  variables: Readonly<Record<string, unknown>>,
  shop: string,
): string {
  const defaults = new Map(
    operation.variableDefinitions?.map(({ variable, defaultValue }) => [variable.name.value, defaultValue]),
  )
  const value = (node: ValueNode): string => {
    if (node.kind === Kind.LIST) return `[${node.values.map(value).join(', ')}]`
    if (node.kind === Kind.OBJECT)
      return `{${node.fields.map((one) => `${one.name.value}: ${value(one.value)}`).join(', ')}}`
    if (node.kind !== Kind.VARIABLE) return print(node)
    if (Object.hasOwn(variables, node.name.value)) return JSON.stringify(variables[node.name.value])
    const fallback = defaults.get(node.name.value)
    return fallback === undefined ? `$${node.name.value}` : value(fallback)
  }
  const field = ({ name: own, arguments: given = [] }: FieldNode): string => {
    const said = given.map((one) => `${one.name.value}: ${value(one.value)}`).join(', ')
    return cut(said === '' ? own.value : `${own.value}(${said})`, LONGEST_FIELD)
  }
  const what = kind === 'mutation' ? 'Change' : 'Read from'
  const each = Math.max(1, Math.floor(LONGEST_LIST / roots.length) - 3)
  const list = roots.length < 2 ? '' : ` ${roots.map(({ name: own }) => cut(own.value, each)).join(', ')}.`
  const called = name === undefined ? '' : ` Called ${cut(name, LONGEST_NAME)}.`
  return `${what} the shop ${shop}:${list} ${roots.map(field).join('; ')}.${called}`
}

const cut = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most)}…`)
