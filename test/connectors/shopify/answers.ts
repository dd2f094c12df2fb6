/**
 * A shop as Shopify would tell of it, and the ways in which Shopify says no.
 * @module
 */
import { answering, GRAPHQL } from '../contracts/shopify.ts'

export const SHOP = 'acme-canary.myshopify.com'
export const KEY = 'shpat_c4n4ry0123456789abcdef01234567'
export const PATH = '/admin/api/2026-10/graphql.json'

const domain = { url: 'https://acme.example', host: 'acme.example' }
export const shop = {
  id: 'gid://shopify/Shop/1',
  name: 'Acme',
  myshopifyDomain: SHOP,
  primaryDomain: domain,
  email: 'shop@acme.example',
  contactEmail: 'help@acme.example',
  currencyCode: 'EUR',
  ianaTimezone: 'Europe/Berlin',
  weightUnit: 'KILOGRAMS',
  plan: { publicDisplayName: 'Basic', partnerDevelopment: false, shopifyPlus: false },
  billingAddress: { country: 'Germany', countryCodeV2: 'DE' },
  createdAt: '2020-01-01T00:00:00Z',
}
const price = { amount: '12.50', currencyCode: 'EUR' }
export const product = {
  id: 'gid://shopify/Product/1',
  legacyResourceId: '1',
  title: 'Shirt',
  handle: 'shirt',
  status: 'ACTIVE',
  vendor: 'Acme',
  productType: 'Shirts',
  tags: ['sale'],
  totalInventory: 7,
  createdAt: '2026-01-01T00:00:00Z',
  updatedAt: '2026-02-01T00:00:00Z',
  seo: {},
  priceRangeV2: { minVariantPrice: price, maxVariantPrice: price },
}
const money = { shopMoney: price }
export const order = {
  id: 'gid://shopify/Order/1',
  name: '#1001',
  createdAt: '2026-11-02T00:00:00Z',
  displayFulfillmentStatus: 'UNFULFILLED',
  test: false,
  tags: [],
  currentTotalPriceSet: money,
  totalRefundedSet: money,
  currentSubtotalLineItemsQuantity: 1,
  lineItems: { nodes: [{ title: 'Shirt', quantity: 1, originalTotalSet: money }], pageInfo: { hasNextPage: false } },
}
export const page = (name: string, nodes: object[], endCursor?: string) =>
  answering({ [name]: { nodes, pageInfo: { hasNextPage: endCursor !== undefined, endCursor } } })
export const installed = (...scopes: string[]) => ({
  shop,
  currentAppInstallation: { accessScopes: scopes.map((handle) => ({ handle })) },
})
export const errors = (code: string, message: string, more: object = {}) => ({
  json: { errors: [{ message, extensions: { code, ...more } }], extensions: {} },
})
export const throttled = (requestedQueryCost: number, currentlyAvailable: number, restoreRate = 100) => ({
  json: {
    errors: [{ message: 'Throttled', extensions: { code: 'THROTTLED' } }],
    extensions: {
      cost: {
        requestedQueryCost,
        actualQueryCost: null,
        throttleStatus: { maximumAvailable: 2000, currentlyAvailable, restoreRate },
      },
    },
  },
})
export const sent = (body?: object) => [{ method: 'POST', path: PATH, ...(body && { body }) }]
const DENIED = errors('ACCESS_DENIED', 'Access denied for orders field.', {
  requiredAccess: '`read_orders` access scope.',
})

/** What every read owes besides. */
export const fails = {
  'a limit of points, with the wait': {
    answers: { [GRAPHQL]: throttled(3_000, 100) },
    code: 'rate_limited',
    says: /200 \(THROTTLED\): Throttled\. Wait 29 s/,
    facts: { http_status: 200, vendor_code: 'THROTTLED', retryable: true, retry_after_s: 29 },
  },
  'a limit of points, without the figures': {
    answers: { [GRAPHQL]: errors('THROTTLED', 'Throttled') },
    code: 'rate_limited',
    says: /Wait a minute/,
  },
  'a query that costs more than any may': {
    answers: { [GRAPHQL]: errors('MAX_COST_EXCEEDED', 'Query cost is 1200, which exceeds the limit of 1000') },
    code: 'invalid_arguments',
    says: /Ask for fewer fields/,
  },
  'a scope that is missing': {
    answers: { [GRAPHQL]: DENIED },
    code: 'upstream_unavailable',
    says: /ACCESS_DENIED.*It needs: `read_orders` access scope\. A person can give the app that scope/,
    facts: { retryable: false },
  },
  'a fault of Shopify': {
    answers: { [GRAPHQL]: errors('INTERNAL_SERVER_ERROR', 'Internal error. Request ID: 1') },
    code: 'upstream_unavailable',
    says: /INTERNAL_SERVER_ERROR/,
    facts: { retryable: true },
  },
  'a shop that is closed': {
    answers: { [GRAPHQL]: errors('SHOP_INACTIVE', 'The shop is inactive') },
    code: 'upstream_unavailable',
    says: /inactive/,
  },
  'a token that is refused': {
    answers: { [GRAPHQL]: { status: 401, json: { errors: '[API] Invalid API key or access token' } } },
    code: 'upstream_unavailable',
    says: /401: \[API\] Invalid.*a person has to renew/,
  },
  'a shop that has not paid': {
    answers: { [GRAPHQL]: { status: 402, json: { errors: 'Unavailable Shop' } } },
    code: 'upstream_unavailable',
    says: /402: Unavailable Shop/,
  },
  'a token without the right': {
    answers: { [GRAPHQL]: { status: 403, json: { errors: { base: ['Forbidden here'] } } } },
    code: 'upstream_unavailable',
    says: /403: Forbidden here\..*more scopes/,
  },
  'no such shop or version': {
    answers: { [GRAPHQL]: { status: 404, json: { errors: 'Not Found' } } },
    code: 'upstream_unavailable',
    says: /404: Not Found/,
  },
  'a shop that is locked': {
    answers: { [GRAPHQL]: { status: 423, json: { errors: 'Locked' } } },
    code: 'upstream_unavailable',
    says: /423: Locked/,
  },
  'a limit of requests, with the wait in Shopify’s spelling': {
    answers: { [GRAPHQL]: { status: 429, json: { errors: 'Exceeded the limit' }, headers: { 'retry-after': '31.0' } } },
    code: 'rate_limited',
    says: /429: Exceeded the limit\. Wait 31 s/,
    facts: { retry_after_s: 31 },
  },
  'an answer that is none': {
    answers: { [GRAPHQL]: { text: '<html>' } },
    code: 'upstream_unavailable',
    says: /no GraphQL/,
  },
} as const

export const MUTATION =
  'mutation Rename($id: ID!) { productUpdate(product: { id: $id, title: "New" }) { product { id title } userErrors { field message } } }'
export const BOTH = MUTATION.replace(/ \}$/, ' tagsAdd(id: $id, tags: ["a"]) { node { id } } }')
export const rename = { query: MUTATION, variables: { id: product.id } }
export const changed = answering({ productUpdate: { product: { ...product, title: 'New' }, userErrors: [] } })
export const refused = { product: null, userErrors: [{ field: ['product', 'title'], message: "Title can't be blank" }] }
/** A mutation turned away as a whole. */
export const whole = (code: string) => ({ answers: { [GRAPHQL]: errors(code, 'No') }, args: rename })
