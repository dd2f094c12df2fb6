/**
 * Content writer: reads the store's pages and keeps voice guides and page copy as drafts in the project folder.
 * Only a specialist whose profile names a tool gets it; a person's session does not register any.
 * @module
 */
import { defineConnector, each } from '../src/connector/define.ts'
import type { ToolFacts } from '../src/connector/declaration.ts'

const BY_NAME: ToolFacts = { access: 'read', grantable: true, ask: 'never', optIn: true }

export const writer = defineConnector({
  slug: 'writer',
  title: 'Content writer (with Shopify)',
  kind: 'connector',
  credentials: 'none',
  when: 'The grant names Shopify and the profile asks for the tool by name.',
  beside: 'shopify',
  tools: [
    ...each('writer_read_voice_guide', BY_NAME),
    {
      name: 'writer_save_voice_guide',
      ...BY_NAME,
      proposes: true,
      note: 'A guide is used only once its status line says `APPROVED`, which the tool itself can never set.',
    },
    ...each('writer_page_content writer_read_brief', BY_NAME),
    { name: 'writer_save_draft', ...BY_NAME, proposes: true },
  ],
  notes: ["The tools write only into the brand's project folder; nothing is written to the store."],
})
