import { parse } from 'graphql'
import { describe, expect, it } from 'vitest'
import { choose } from '../../connectors/shopify/document.ts'
import { shopify } from '../../connectors/shopify.ts'
import { summarise } from '../../src/approvals/show.ts'
import { answering, GRAPHQL, shopifyContract } from './contracts/shopify.ts'
import {
  SHOP,
  KEY,
  shop,
  product,
  order,
  page,
  installed,
  errors,
  throttled,
  sent,
  fails,
  MUTATION,
  BOTH,
  rename,
  changed,
  refused,
  whole,
} from './shopify/answers.ts'
import { BAD, FORBIDDEN, JUDGED } from './shopify/documents.ts'
import { testConnector } from './suite.ts'
import { resultOf } from './world.ts'

const { bench: benched, standin } = testConnector({
  connector: shopify,
  contract: shopifyContract,
  fields: { shop: SHOP, accessToken: KEY },
  auth: (headers) => (headers['x-shopify-access-token'] === KEY ? undefined : 'the token is missing or not as sent'),
  check: {
    answers: { [GRAPHQL]: answering(installed('read_products', 'write_orders')) },
    says: /^Connected to Acme \(acme-canary\.myshopify\.com\), Admin API 2026-10\. Scopes: read_products, write_orders\.$/,
  },
  tools: {
    shopify_shop_info: {
      works: [
        { args: {}, answers: { [GRAPHQL]: answering({ shop }) }, sends: sent(), result: { shop: { ...shop } } },
        {
          name: 'warns of another version than the one asked for',
          args: {},
          answers: { [GRAPHQL]: answering({ shop }, { version: '2027-01' }) },
          sends: sent(),
          result: { warnings: [expect.stringContaining('version 2027-01 of its API, not 2026-10')] },
        },
      ],
      fails,
    },
    shopify_search_products: {
      works: [
        {
          args: { query: 'tag:sale', first: 2 },
          answers: { [GRAPHQL]: page('products', [product], 'c1') },
          sends: sent({
            query: expect.stringContaining('products('),
            variables: { query: 'tag:sale', first: 2, sortKey: 'ID', reverse: false },
          }),
          result: { products: [{ title: 'Shirt', status: 'ACTIVE' }], nextPage: 'c1' },
          summary: `Search the products of ${SHOP} for tag:sale.`,
        },
        {
          name: 'gives the last page, and says so',
          args: { after: 'c1', sort: 'UPDATED_AT', reverse: true },
          answers: { [GRAPHQL]: page('products', []) },
          sends: sent({
            query: expect.any(String),
            variables: { first: 20, after: 'c1', sortKey: 'UPDATED_AT', reverse: true },
          }),
          result: { products: [], nextPage: null },
        },
      ],
      fails,
      bad: {
        'too many at once': { args: { first: 51 }, says: /"first".*50/ },
        'an unknown order': { args: { sort: 'PRICE' }, says: /"sort"/ },
        'relevance to nothing': { args: { sort: 'RELEVANCE' }, says: /needs a "query"/ },
        'a search that is too long': { args: { query: 'x'.repeat(501) }, says: /"query".*500/ },
      },
    },
    shopify_recent_orders: {
      works: [
        {
          args: { since: '2026-11-01', first: 1 },
          answers: { [GRAPHQL]: page('orders', [order], 'c1') },
          sends: sent({ query: expect.any(String), variables: { first: 1, query: 'created_at:>=2026-11-01' } }),
          result: { orders: [{ name: '#1001', lineItems: { nodes: [{ title: 'Shirt' }] } }], nextPage: 'c1' },
          summary: `Read the orders of ${SHOP} since 2026-11-01.`,
        },
        {
          name: 'goes on where a page ended, 30 days back unless said',
          args: { after: 'c1' },
          answers: { [GRAPHQL]: page('orders', []) },
          sends: sent({
            query: expect.not.stringMatching(/customer|email|address|phone/i),
            variables: {
              first: 20,
              after: 'c1',
              query: expect.stringMatching(/^created_at:>='20\d\d-[\d-]+T[\d:.]+Z'$/),
            },
          }),
          result: { orders: [], nextPage: null },
        },
      ],
      fails,
      bad: {
        'two beginnings': { args: { days: 3, since: '2026-11-01' }, says: /"days" or "since", not both/ },
        'a day that is none': { args: { since: '2026-02-30' }, says: /"since"/ },
        'a search smuggled in': { args: { since: '2026-11-01 OR name:x' }, says: /"since"/ },
        'no days': { args: { days: 0 }, says: /"days"/ },
      },
    },
    shopify_admin_graphql: {
      works: [
        {
          args: { query: '# all of it\n{ shop { name } }' },
          answers: { [GRAPHQL]: answering({ shop }) },
          sends: sent({ query: '{\n  shop {\n    name\n  }\n}', variables: {} }),
          result: { data: { shop: { name: 'Acme' } }, cost: { actualQueryCost: 4 } },
          summary: `Read from the shop ${SHOP}: shop.`,
          effect: false,
        },
        {
          name: 'runs a mutation, and only it',
          args: { ...rename, query: `query A { shop { name } } ${MUTATION}`, operationName: 'Rename' },
          answers: { [GRAPHQL]: changed },
          sends: sent({
            query: expect.stringMatching(/^mutation Rename(?!.*query A)/s),
            variables: { id: product.id },
            operationName: 'Rename',
          }),
          result: { data: { productUpdate: { product: { title: 'New' }, userErrors: [] } } },
          summary: `Change the shop ${SHOP}: productUpdate(product: {id: "gid://shopify/Product/1", title: "New"}). Called Rename.`,
        },
        {
          name: 'says which part of a mutation was refused',
          args: { query: BOTH, variables: rename.variables },
          answers: {
            [GRAPHQL]: answering({
              productUpdate: refused,
              tagsAdd: { node: { __typename: 'Product', id: product.id } },
            }),
          },
          sends: sent(),
          result: {
            data: { tagsAdd: { node: { id: product.id } } },
            warnings: [
              "Not done, or not all of it: productUpdate: product.title: Title can't be blank.",
              expect.stringContaining('tagsAdd was not asked for its userErrors'),
            ],
          },
          summary: `Change the shop ${SHOP}: productUpdate, tagsAdd. productUpdate(product: {id: "gid://shopify/Product/1", title: "New"}); tagsAdd(id: "gid://shopify/Product/1", tags: ["a"]). Called Rename.`,
        },
        {
          name: 'hands on what came besides errors',
          args: { query: '{ shop { name } node(id: "gid://shopify/Order/1") { id } }' },
          answers: {
            [GRAPHQL]: answering(
              { shop },
              {
                errors: [
                  { message: 'Access denied for node field.', path: ['node'], extensions: { code: 'ACCESS_DENIED' } },
                ],
              },
            ),
          },
          sends: sent(),
          result: {
            data: { shop: { name: 'Acme' }, node: null },
            warnings: [expect.stringContaining('Access denied for node')],
          },
        },
      ],
      fails: {
        ...fails,
        'a field that is not there': {
          answers: { [GRAPHQL]: errors('undefinedField', "Field 'x' doesn't exist on type 'Shop'") },
          code: 'invalid_arguments',
          says: /undefinedField.*doesn't exist/,
        },
        'a mutation that Shopify refuses': {
          args: rename,
          answers: { [GRAPHQL]: answering({ productUpdate: refused }) },
          code: 'invalid_arguments',
          says: /USER_ERRORS\): product\.title: Title can't be blank/,
        },
        'a mutation that is throttled did not run': { ...whole('THROTTLED'), code: 'rate_limited', says: /THROTTLED/ },
        'a mutation that is not valid did not run': {
          ...whole('undefinedField'),
          code: 'invalid_arguments',
          says: /undefinedField/,
        },
        'a mutation that is denied did not run': {
          args: rename,
          answers: {
            [GRAPHQL]: {
              json: {
                data: { productUpdate: null },
                errors: [{ message: 'Access denied', path: ['productUpdate'], extensions: { code: 'ACCESS_DENIED' } }],
              },
            },
          },
          code: 'upstream_unavailable',
          says: /ACCESS_DENIED/,
        },
        'a mutation that is denied within may have run': {
          args: rename,
          answers: {
            [GRAPHQL]: {
              json: {
                data: { productUpdate: null },
                errors: [
                  {
                    message: 'Access denied',
                    path: ['productUpdate', 'product'],
                    extensions: { code: 'ACCESS_DENIED' },
                  },
                ],
              },
            },
          },
          code: 'outcome_unknown',
          ran: 'maybe',
          says: /ACCESS_DENIED/,
        },
        'a mutation within which Shopify failed may have run': {
          ...whole('INTERNAL_SERVER_ERROR'),
          code: 'outcome_unknown',
          ran: 'maybe',
          says: /INTERNAL_SERVER_ERROR/,
          facts: { retryable: false },
        },
        'a mutation refused in words nobody knows may have run': {
          ...whole('SOMETHING_NEW'),
          code: 'outcome_unknown',
          ran: 'maybe',
          says: /SOMETHING_NEW/,
        },
        'a mutation whose answer is none may have run': {
          args: rename,
          answers: { [GRAPHQL]: { text: '{}' } },
          code: 'outcome_unknown',
          ran: 'maybe',
          says: /no GraphQL/,
        },
        'a mutation and a broken line': {
          args: rename,
          answers: { [GRAPHQL]: { fault: 'reset' } },
          code: 'outcome_unknown',
          ran: 'maybe',
          says: /broke before its answer/,
        },
        'a mutation and a 502': {
          args: rename,
          answers: { [GRAPHQL]: { status: 502, text: '' } },
          code: 'outcome_unknown',
          ran: 'maybe',
          says: /502/,
        },
      },
      bad: BAD,
      forbidden: FORBIDDEN,
      mutates: JUDGED,
    },
  },
})

describe('what is sent is what was judged', () => {
  it.each(JUDGED)('%j', ({ query, operationName }, mutates) => {
    const { text, kind, name } = choose(query, operationName)
    const { definitions } = parse(text)
    const operations = definitions.filter((one) => one.kind === 'OperationDefinition')
    expect(operations).toMatchObject([{ operation: mutates ? 'mutation' : 'query' }])
    expect(kind).toBe(mutates ? 'mutation' : 'query')
    expect(operations[0]?.name?.value).toBe(name)
    expect(choose(text, name).text).toBe(text)
    expect(text).not.toMatch(/#|"""|\ufeff/)
  })

  it('keeps what a block string says', () => {
    const { text } = choose('{ products(first: 1, query: """\n  a "b"\n    c\\n\n""") { nodes { id } } }')
    expect(text).toContain(JSON.stringify('a "b"\n  c\\n'))
  })

  it('names the real field on the card, not its alias, and what a variable that is left out becomes', () => {
    const query =
      'mutation ($t: [String!]! = ["x"], $n: String) { ...F } fragment F on Mutation { rename: productDelete(input: { id: $n }) { deletedProductId } tagsAdd(id: "1", tags: $t) { userErrors { message } } }'
    const said = benched().tool('shopify_admin_graphql').summary?.(JSON.stringify({ query }))
    expect(said).toBe(
      `Change the shop ${SHOP}: productDelete, tagsAdd. productDelete(input: {id: $n}); tagsAdd(id: "1", tags: ["x"]).`,
    )
  })
})

it('a card names every change first, however long the first one is and whatever the operation is called', () => {
  const name = `Reads_only_${'x'.repeat(500)}`
  const long = Array(9)
    .fill(`productVariantsBulkReorder(productId: "${'y'.repeat(270)}") { __typename }`)
    .join(' ')
  const query = `mutation ${name} { ${long} productDelete(input: { id: "1" }) { deletedProductId } }`
  const card = summarise(benched().tool('shopify_admin_graphql'), JSON.stringify({ query }))
  expect(card).toMatch(/^Change the shop acme-canary\.myshopify\.com: (?:productVariantsB…, ){9}productDelete\. /)
})

describe('points', () => {
  it('waits for them and asks again, where the wait is short and nothing changes', async () => {
    standin().on(GRAPHQL, throttled(500, 100), answering({ shop }))
    const answer = await benched().call('shopify_shop_info', {})
    expect(resultOf(answer)).toMatchObject({ shop: { name: 'Acme' } })
    expect(benched().waits).toEqual([4_000])
  })

  it('never sends a mutation twice', async () => {
    standin().on(GRAPHQL, throttled(500, 100), changed)
    const answer = await benched().call('shopify_admin_graphql', rename)
    expect(answer).toMatchObject({ kind: 'failed', code: 'rate_limited', ran: 'no', facts: { retry_after_s: 4 } })
    expect(standin().seen).toHaveLength(1)
    expect(benched().waits).toEqual([])
  })
})

describe('a check', () => {
  it('says which scopes the reads lack, and which version answered', async () => {
    standin().on(GRAPHQL, answering(installed('write_products'), { version: '2026-01' }))
    expect(await benched().vendor.check(benched().opened)).toMatch(
      /Scopes: write_products\. The reads also need read_orders\. Shopify answered with version 2026-01/,
    )
  })
})
