/**
 * Shopify: three reads, and one Admin GraphQL tool that reads freely and asks before each mutation.
 * @module
 */
import { defineConnector, each, GRANTABLE_READ } from '../src/connector/define.ts'

export const shopify = defineConnector({
  slug: 'shopify',
  title: 'Shopify',
  kind: 'connector',
  credentials: 'brand',
  when: 'The brand has connected Shopify.',
  tools: [
    ...each('shopify_shop_info shopify_search_products shopify_recent_orders', GRANTABLE_READ),
    {
      name: 'shopify_admin_graphql',
      access: 'write',
      grantable: false,
      ask: 'mutations',
      withoutChannel: 'refuses',
      needs: [{ switch: 'SHOPIFY_ALLOW_WRITES', otherwise: 'refuses' }],
      note: 'Reads run freely, so it stays registered; only a mutation needs the switch and an approval.',
    },
  ],
  withheld: [
    {
      what: 'Nothing beyond the single Admin GraphQL tool; mutations through it are gated',
      why: 'One tool that is parsed and gated can be reviewed; a tool per mutation could not.',
    },
  ],
})
