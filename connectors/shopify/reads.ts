/**
 * The three reads: the shop, its products, its recent orders. Orders come without customers: no name, email or address.
 * @module
 */
import { z } from 'zod'
import { body, Refusal, type Result, type Run } from '../../src/connector/native/kit.ts'
import { type Envelope, envelopeOf, refusalOf, warningsOf } from './answer.ts'
import { endpoint, versionOf } from './connection.ts'

const MONEY = 'shopMoney { amount currencyCode }'
const PAGE = 'pageInfo { hasNextPage endCursor }'

/** What the reads send, by tool. */
export const DOCUMENTS = {
  shop: `query Shop { shop {
    id name myshopifyDomain primaryDomain { url host } email contactEmail currencyCode ianaTimezone weightUnit
    plan { publicDisplayName partnerDevelopment shopifyPlus } billingAddress { country countryCodeV2 } createdAt
  } }`,
  products: `query Products($first: Int!, $after: String, $query: String, $sortKey: ProductSortKeys, $reverse: Boolean) {
    products(first: $first, after: $after, query: $query, sortKey: $sortKey, reverse: $reverse) {
      nodes {
        id legacyResourceId title handle status vendor productType tags totalInventory onlineStoreUrl createdAt updatedAt
        seo { title description }
        priceRangeV2 { minVariantPrice { amount currencyCode } maxVariantPrice { amount currencyCode } }
        variantsCount { count } featuredMedia { preview { image { url altText } } }
      }
      ${PAGE}
    } }`,
  orders: `query RecentOrders($first: Int!, $after: String, $query: String) {
    orders(first: $first, after: $after, query: $query, sortKey: CREATED_AT, reverse: true) {
      nodes {
        id name createdAt cancelledAt displayFinancialStatus displayFulfillmentStatus test tags sourceName
        currentTotalPriceSet { ${MONEY} } totalRefundedSet { ${MONEY} } currentSubtotalLineItemsQuantity
        lineItems(first: 20) {
          nodes { title quantity sku product { id } originalTotalSet { ${MONEY} } }
          pageInfo { hasNextPage }
        }
      }
      ${PAGE}
    } }`,
}

interface Connection {
  readonly nodes?: readonly unknown[]
  readonly pageInfo?: { readonly hasNextPage?: boolean; readonly endCursor?: string | null }
}

async function ask(
  { http, settings }: Pick<Run<unknown>, 'http' | 'settings'>,
  query: string,
  variables: object,
): Promise<{ data: Readonly<Record<string, unknown>>; more: { warnings?: string[] } }> {
  const reply = await http.post<Envelope>(endpoint(settings), {
    json: { query, variables },
    safe: true,
    refusal: refusalOf,
  })
  return { data: envelopeOf(reply.json).data ?? {}, more: warningsOf(reply, versionOf(settings)) }
}

/** One page, and the cursor of the next where there is one. */
function paged(name: string, value: unknown, more: object): Result {
  const { nodes = [], pageInfo = {} } = (value ?? {}) as Connection
  const next = pageInfo.hasNextPage === true ? (pageInfo.endCursor ?? null) : null
  return { [name]: nodes, nextPage: next, ...more }
}

const first = z.int().min(1).max(50).default(20).describe('How many.')
const after = z.string().min(1).max(1_000).optional().describe('nextPage of the page before.')

export const shopInfo = body({
  title: 'Read about the shop',
  description:
    'Reads the shop itself: names, addresses on the web, currency, time zone, plan, country. Needs no scope.',
  input: z.strictObject({}),
  summary: (_, { shop }) => `Read about the shop ${shop}.`,
  async run(run) {
    const { data, more } = await ask(run, DOCUMENTS.shop, {})
    return { shop: data.shop, ...more }
  },
})

const SORTS = 'RELEVANCE TITLE PRODUCT_TYPE VENDOR INVENTORY_TOTAL UPDATED_AT CREATED_AT PUBLISHED_AT ID'.split(
  ' ',
) as [string]

export const searchProducts = body({
  title: 'Search products',
  description:
    'Lists products of the shop, a page at a time: status, prices, inventory, tags, SEO texts, first picture. Needs read_products. Texts of descriptions and variants are read with shopify_admin_graphql.',
  input: z.strictObject({
    query: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .describe('In Shopify’s search syntax, as in: status:active tag:sale shirt. All products without it.'),
    first,
    after,
    sort: z.enum(SORTS).default('ID').describe('RELEVANCE needs a query.'),
    reverse: z.boolean().default(false),
  }),
  refuse: ({ sort, query }) =>
    sort === 'RELEVANCE' && query === undefined
      ? new Refusal('invalid_arguments', '"sort" is RELEVANCE, which needs a "query".')
      : undefined,
  summary: ({ query }, { shop }) => `Search the products of ${shop}${query === undefined ? '' : ` for ${query}`}.`,
  async run(run) {
    const { sort, ...rest } = run.args
    const { data, more } = await ask(run, DOCUMENTS.products, { ...rest, sortKey: sort })
    return paged('products', data.products, more)
  },
})

export const recentOrders = body({
  title: 'Read recent orders',
  description:
    'Lists orders of the shop, newest first, a page at a time: status, totals, refunds, the first 20 items; nothing of the customer. Needs read_orders, which reaches 60 days back; older orders need read_all_orders.',
  input: z.strictObject({
    first,
    after,
    days: z.int().min(1).max(3_650).optional().describe('How many days back; 30 unless "since" is said.'),
    since: z.iso.date('a date, as in 2026-11-01').optional().describe('From this day on, in the shop’s time zone.'),
  }),
  refuse: ({ days, since }) =>
    days !== undefined && since !== undefined
      ? new Refusal('invalid_arguments', 'Say "days" or "since", not both.')
      : undefined,
  summary: ({ days = 30, since }, { shop }) =>
    `Read the orders of ${shop} ${since === undefined ? `of the last ${days} days` : `since ${since}`}.`,
  async run(run) {
    const { days = 30, since, ...page } = run.args
    const from = since ?? `'${new Date(Date.now() - days * 86_400_000).toISOString()}'`
    const { data, more } = await ask(run, DOCUMENTS.orders, { ...page, query: `created_at:>=${from}` })
    return paged('orders', data.orders, more)
  },
})
