/**
 * Which one operation of a GraphQL document would run, and what it is. Judged on the syntax tree, never on the text; what
 * is sent is printed from that very tree, so that no other parser can see another operation in it.
 * @module
 */
import {
  type DocumentNode,
  type FieldNode,
  getOperationAST,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  type SelectionSetNode,
  separateOperations,
  visit,
} from 'graphql'
import { Refusal } from '../../src/connector/native/kit.ts'

/** The one operation that runs. */
export interface Chosen {
  readonly kind: 'query' | 'mutation'
  readonly name: string | undefined
  /** Exactly what is sent: this operation and the fragments it uses, without comments and descriptions. */
  readonly text: string
  /** Its fields at the root, those that fragments bring included. */
  readonly roots: readonly FieldNode[]
  readonly operation: OperationDefinitionNode
}

/** Most characters of a document. */
export const LONGEST = 50_000
const MOST_TOKENS = 10_000
/** How deep selections may nest, fragments counted as they unfold. */
const DEEPEST = 30
/** Most fields, and most of them under another name, with every fragment unfolded. */
const MOST_FIELDS = 2_000
const MOST_ALIASES = 100
/** Most characters of a document with a mutation to run, and most fields at its root: a card shows them whole. */
const LONGEST_CHANGE = 4_000
const MOST_CHANGES = 10

const wrong = (sentence: string) => new Refusal('invalid_arguments', sentence)
const forbidden = (sentence: string) => new Refusal('forbidden_arguments', sentence)

/**
 * Reads a document and picks the operation that runs. Throws Refusal for whatever is not plainly one query or one
 * mutation: nothing of such a document is sent.
 */
export function choose(source: string, operationName?: string): Chosen {
  if (source.length > LONGEST)
    throw forbidden(`The document is longer than ${LONGEST} characters; ask for less at once.`)
  const document = plain(parsed(source))
  only(document)
  const found = getOperationAST(document, operationName)
  if (found === undefined || found === null) throw wrong(whichOne(document, operationName))
  if (found.operation !== 'query' && found.operation !== 'mutation')
    throw forbidden('A subscription is not run here; read with a query.')
  if (found.operation === 'mutation' && source.length > LONGEST_CHANGE)
    throw forbidden(
      `A document that changes something is ${LONGEST_CHANGE} characters at most, so that a person can read it whole; put long texts into variables.`,
    )
  const alone = separateOperations(document)[found.name?.value ?? '']
  const text = alone === undefined ? '' : print(alone)
  const { kind, operation, roots } = again(text)
  if (kind !== found.operation || operation.name?.value !== found.name?.value || print(plain(parsed(text))) !== text)
    throw forbidden('The document cannot be judged, so it is not sent.')
  return { kind, name: operation.name?.value, text, roots, operation }
}

function parsed(source: string): DocumentNode {
  try {
    return parse(source, { noLocation: true, maxTokens: MOST_TOKENS })
  } catch (error) {
    if (error instanceof GraphQLError) {
      const at = error.locations?.[0]
      const where = at === undefined ? '' : ` (line ${at.line}, column ${at.column})`
      throw wrong(`The document is not GraphQL: ${error.message.slice(0, 200)}${where}`)
    }
    throw forbidden('The document nests too deep to be read.')
  }
}

/** The same document in the plainest words: no descriptions, no block strings. */
function plain(document: DocumentNode): DocumentNode {
  const bare = <N extends object>({ description: _, ...node }: N & { description?: unknown }) => node
  return visit(document, {
    [Kind.OPERATION_DEFINITION]: { enter: bare },
    [Kind.FRAGMENT_DEFINITION]: { enter: bare },
    [Kind.VARIABLE_DEFINITION]: { enter: bare },
    [Kind.STRING]: { enter: (node) => (node.block === true ? { ...node, block: false } : undefined) },
  })
}

/** Operations and fragments, each under a name of its own, and nothing else. Throws Refusal. */
function only({ definitions }: DocumentNode): void {
  const names = { operations: [] as string[], fragments: [] as string[] }
  for (const one of definitions) {
    if (one.kind === Kind.OPERATION_DEFINITION) names.operations.push(one.name?.value ?? '')
    else if (one.kind === Kind.FRAGMENT_DEFINITION) names.fragments.push(one.name.value)
    else throw forbidden('The document defines types; it may hold operations and fragments only.')
  }
  for (const [what, list] of Object.entries(names)) {
    const twice = list.find((name, i) => list.indexOf(name) !== i)
    if (twice === '') throw forbidden('Two operations of the document have no name; send one of them.')
    if (twice !== undefined) throw forbidden(`Two ${what} of the document are called ${twice}; give each its own name.`)
  }
  if (names.operations.length > 1 && names.operations.includes(''))
    throw forbidden('An operation without a name stands beside others; send it alone.')
}

function whichOne({ definitions }: DocumentNode, operationName: string | undefined): string {
  const names = definitions.flatMap((one) => (one.kind === Kind.OPERATION_DEFINITION ? [one.name?.value ?? ''] : []))
  if (names.length === 0) return 'The document holds no operation.'
  const known = names.map((name) => name || 'one without a name').join(', ')
  return operationName === undefined
    ? `The document holds several operations; say in "operationName" which one runs: ${known}.`
    : `The document has no operation called ${operationName}; it has ${known}.`
}

/** The operation as it is read from what is sent, measured. Throws Refusal. */
function again(text: string): { kind: string; operation: OperationDefinitionNode; roots: FieldNode[] } {
  const { definitions } = parsed(text)
  const operations = definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION)
  const [operation] = operations
  if (operation === undefined || operations.length !== 1)
    throw forbidden('The document cannot be judged, so it is not sent.')
  const fragments = new Map(
    definitions.flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one.selectionSet]] : [])),
  )
  const roots = measured(operation.selectionSet, fragments)
  if (operation.operation === 'mutation' && roots.length > MOST_CHANGES)
    throw forbidden(`The mutation makes more than ${MOST_CHANGES} changes at once; send fewer.`)
  return { kind: operation.operation, operation, roots }
}

/** The fields at the root. Throws Refusal where the document, with every fragment unfolded, is too deep or too large. */
function measured(set: SelectionSetNode, fragments: ReadonlyMap<string, SelectionSetNode>): FieldNode[] {
  const roots: FieldNode[] = []
  let parts = 0
  let aliases = 0
  const walk = ({ selections }: SelectionSetNode, depth: number, atRoot: boolean): void => {
    if (depth > DEEPEST)
      throw forbidden(`The document nests deeper than ${DEEPEST} levels, or a fragment holds itself; ask in steps.`)
    for (const one of selections) {
      parts++
      if (parts > MOST_FIELDS) throw forbidden(`The document asks for more than ${MOST_FIELDS} fields; ask in steps.`)
      if (one.kind === Kind.FIELD) {
        if (one.alias !== undefined) aliases++
        if (aliases > MOST_ALIASES)
          throw forbidden(`The document renames more than ${MOST_ALIASES} fields; ask in steps.`)
        if (atRoot) roots.push(one)
        if (one.selectionSet !== undefined) walk(one.selectionSet, depth + 1, false)
      } else if (one.kind === Kind.INLINE_FRAGMENT) walk(one.selectionSet, depth + 1, atRoot)
      else {
        const named = fragments.get(one.name.value)
        if (named === undefined) throw wrong(`The document has no fragment called ${one.name.value}.`)
        walk(named, depth + 1, atRoot)
      }
    }
  }
  walk(set, 1, true)
  return roots
}
