/**
 * Contentsquare: whatever the brand's own Contentsquare server offers. No grant gives any of it.
 * @module
 */
import { defineConnector } from '../src/connector/define.ts'

export const contentsquare = defineConnector({
  slug: 'contentsquare',
  title: 'Contentsquare',
  kind: 'connector',
  credentials: 'brand',
  when: 'The brand has connected its Contentsquare server.',
  tools: [
    {
      name: '*',
      access: 'read',
      grantable: false,
      ask: 'never',
      note: "Every tool the brand's Contentsquare server offers; no gate stands before them, so only a person's chat holds them.",
    },
  ],
})
