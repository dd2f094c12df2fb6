/**
 * Shopify: three reads, and one Admin GraphQL tool that reads freely and asks before each mutation.
 * @module
 */
import { defineConnector, GRANTABLE_READ } from '../src/connector/native/kit.ts'
import { connection } from './shopify/connection.ts'
import { adminGraphql } from './shopify/graphql.ts'
import { recentOrders, searchProducts, shopInfo } from './shopify/reads.ts'

export const shopify = defineConnector({
  slug: 'shopify',
  title: 'Shopify',
  kind: 'connector',
  credentials: 'brand',
  when: 'The brand has connected Shopify.',
  connection,
  tools: [
    { name: 'shopify_shop_info', ...GRANTABLE_READ, body: shopInfo },
    { name: 'shopify_search_products', ...GRANTABLE_READ, body: searchProducts },
    { name: 'shopify_recent_orders', ...GRANTABLE_READ, body: recentOrders },
    {
      name: 'shopify_admin_graphql',
      access: 'write',
      grantable: false,
      ask: 'mutations',
      withoutChannel: 'refuses',
      needs: [{ switch: 'SHOPIFY_ALLOW_WRITES', otherwise: 'refuses' }],
      note: 'Reads run freely, so it stays registered; only a mutation needs the switch and an approval.',
      body: adminGraphql,
    },
  ],
  withheld: [
    {
      what: 'Nothing beyond the single Admin GraphQL tool; mutations through it are gated',
      why: 'One tool that is parsed and gated can be reviewed; a tool per mutation could not.',
    },
  ],
})
