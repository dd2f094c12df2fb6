/**
 * GraphQL documents that try to be taken for something else, and what becomes of each.
 * @module
 */

type Refused = Readonly<
  Record<
    string,
    { readonly args: { query: string; operationName?: string; variables?: object }; readonly says: RegExp }
  >
>

const fields = (many: number, one: (i: number) => string): string =>
  Array.from({ length: many }, (_, i) => one(i)).join(' ')
const DELETE = 'productDelete(input: { id: "gid://shopify/Product/1" }) { deletedProductId }'
/** Each fragment spreads the next twice: 2^n fields from a text of a few lines. */
const bomb = (levels: number): string =>
  `{ ...F0 } ${fields(levels, (i) => `fragment F${i} on QueryRoot { ...F${i + 1} ...F${i + 1} }`)} fragment F${levels} on QueryRoot { shop { name } }`

/** Nobody can say what these would do, so nobody is asked and nothing leaves. */
export const FORBIDDEN: Refused = {
  'a query and a mutation of one name, the mutation last': {
    args: { query: `query A { shop { name } } mutation A { ${DELETE} }`, operationName: 'A' },
    says: /Two operations of the document are called A/,
  },
  'a query and a mutation of one name, the mutation first': {
    args: { query: `mutation A { ${DELETE} } query A { shop { name } }`, operationName: 'A' },
    says: /are called A/,
  },
  'a fragment defined twice, once on each root': {
    args: { query: `query { ...F } fragment F on QueryRoot { shop { name } } fragment F on Mutation { ${DELETE} }` },
    says: /Two fragments of the document are called F/,
  },
  'two operations without a name': {
    args: { query: `{ shop { name } } mutation { ${DELETE} }` },
    says: /have no name/,
  },
  'one without a name beside a named one': {
    args: { query: `{ shop { name } } mutation B { ${DELETE} }`, operationName: 'B' },
    says: /stands beside others/,
  },
  'a subscription': { args: { query: 'subscription { shop { name } }' }, says: /subscription is not run/ },
  'a subscription beside a query, chosen': {
    args: { query: 'query A { shop { name } } subscription B { shop { name } }', operationName: 'B' },
    says: /subscription is not run/,
  },
  'a type beside a query': { args: { query: '{ shop { name } } type A { b: Int }' }, says: /defines types/ },
  'an extended schema': {
    args: { query: 'query Q { shop { name } } extend schema { query: Mutation }' },
    says: /defines types/,
  },
  'a schema that swaps its roots': {
    args: { query: 'schema { query: Mutation mutation: QueryRoot } query Q { shop { name } }' },
    says: /defines types/,
  },
  'selections that nest too deep': {
    args: { query: `{ ${'node { '.repeat(40)} id ${'} '.repeat(40)} }` },
    says: /nests deeper than 30/,
  },
  'so deep that a parser gives up': { args: { query: '{a'.repeat(4_900) }, says: /nests too deep to be read/ },
  'a value so deep that a parser gives up': {
    args: { query: `{ a(x: ${'['.repeat(4_900)}${']'.repeat(4_900)}) }` },
    says: /nests too deep to be read/,
  },
  'a fragment that holds itself': {
    args: { query: '{ ...F } fragment F on QueryRoot { shop { name } ...F }' },
    says: /or a fragment holds itself/,
  },
  'fragments that hold each other': {
    args: { query: '{ ...F } fragment F on QueryRoot { ...G } fragment G on QueryRoot { ...F }' },
    says: /or a fragment holds itself/,
  },
  'fragments that unfold without end': { args: { query: bomb(20) }, says: /more than 2000 fields/ },
  'too many fields': { args: { query: `{ ${fields(2_001, () => 'shop')} }` }, says: /more than 2000 fields/ },
  'too many aliases': {
    args: { query: `{ ${fields(101, (i) => `a${i}: shop { name }`)} }` },
    says: /renames more than 100/,
  },
  'more changes than a person reads': {
    args: { query: `mutation { ${fields(11, () => DELETE)} }` },
    says: /more than 10 changes/,
  },
  'a change that stands below what a person is shown': {
    args: { query: `mutation { ${'# nothing to see\n'.repeat(300)} ${DELETE} }` },
    says: /4000 characters at most, so that a person can read it whole/,
  },
  'variables without end': {
    args: { query: '{ shop { name } }', variables: { a: 'x'.repeat(100_001) } },
    says: /variables are longer/,
  },
}

/** Mistakes that whoever made them can mend. */
export const BAD: Refused = {
  nothing: { args: { query: '' }, says: /"query"/ },
  'blanks and a comment': { args: { query: '  # mutation { x }\n' }, says: /not GraphQL: .*Unexpected <EOF>/ },
  'an end missing': { args: { query: '{ shop { name }' }, says: /not GraphQL.*line 1, column 16/ },
  'two documents in one text': { args: { query: '{ shop { name } } }' }, says: /not GraphQL/ },
  'a batch': { args: { query: '[{ shop { name } }]' }, says: /not GraphQL/ },
  JSON: { args: { query: '{"query":"mutation { x }"}' }, says: /not GraphQL/ },
  'an unknown kind of operation': { args: { query: 'Mutation { x }' }, says: /not GraphQL/ },
  'a zero byte': { args: { query: '{ shop\u0000 { name } }' }, says: /not GraphQL/ },
  'a line separator that others read as an end of line': {
    args: { query: '{ shop { name } }\u2028' },
    says: /not GraphQL/,
  },
  'half a character': { args: { query: '{ a(x: "\ud800") }' }, says: /not GraphQL/ },
  'a string that never ends': { args: { query: 'query { a(x: "} mutation { b }' }, says: /not GraphQL/ },
  'more tokens than a document needs': {
    args: { query: `{ a(x: [${'1 '.repeat(10_000)}]) }` },
    says: /not GraphQL.*10000 tokens/,
  },
  'longer than a document is': { args: { query: `{ shop { name } } # ${'x'.repeat(50_000)}` }, says: /"query".*50000/ },
  'fragments alone': { args: { query: 'fragment F on QueryRoot { shop { name } }' }, says: /holds no operation/ },
  'several operations and no choice': {
    args: { query: `query A { shop { name } } mutation B { ${DELETE} }` },
    says: /several operations; say in "operationName" which one runs: A, B/,
  },
  'a choice that is not there': {
    args: { query: `query A { shop { name } } mutation B { ${DELETE} }`, operationName: 'C' },
    says: /no operation called C; it has A, B/,
  },
  'a choice that differs in case': {
    args: { query: 'query A { shop { name } }', operationName: 'a' },
    says: /no operation called a/,
  },
  'a choice where the one has no name': {
    args: { query: '{ shop { name } }', operationName: 'A' },
    says: /it has one without a name/,
  },
  'a choice with a blank': {
    args: { query: 'query A { shop { name } }', operationName: 'A ' },
    says: /"operationName"/,
  },
  'a fragment that is not there': { args: { query: '{ ...F }' }, says: /no fragment called F/ },
}

/** What runs, and whether it changes anything. */
export const JUDGED: readonly (readonly [args: { query: string; operationName?: string }, mutates: boolean])[] = [
  [{ query: '{ shop { name } }' }, false],
  [{ query: '# mutation { x }\nquery { shop { name } }' }, false],
  [{ query: '\ufeffquery A { shop { name } }' }, false],
  [{ query: 'query mutation { mutation: shop { name } }', operationName: 'mutation' }, false],
  [
    {
      query: 'query A($mutation: String = "mutation { x }") { products(first: 1, query: $mutation) { nodes { id } } }',
    },
    false,
  ],
  [{ query: 'query A { products(first: 1, query: """\n} mutation B { x }\n""") { nodes { id } } }' }, false],
  [{ query: 'query A { shop @include(if: true) { name } }' }, false],
  [{ query: `query A { shop { name } } mutation B { ${DELETE} }`, operationName: 'A' }, false],
  [{ query: `query A { shop { name } } mutation B { ${DELETE} }`, operationName: 'B' }, true],
  [{ query: `\ufeff,,, # query\n mutation { ${DELETE} }` }, true],
  [{ query: `mutation query { ${DELETE} }` }, true],
  [{ query: `"""query A { x }""" mutation A { ${DELETE} }` }, true],
  [{ query: `mutation A @skip(if: true) { ${DELETE} }` }, true],
  [{ query: `mutation { shop: ${DELETE} }` }, true],
  [{ query: `mutation B { ...F } fragment F on Mutation { ${DELETE} }` }, true],
  [{ query: `mutation { ... on Mutation { ... { ${DELETE} } } }` }, true],
  [{ query: 'mutation { __typename }' }, true],
  [{ query: 'mutation { bulkOperationRunQuery(query: "{ shop { name } }") { bulkOperation { id } } }' }, true],
]
