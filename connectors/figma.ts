/**
 * Figma: designs, comments and libraries, to look at.
 * @module
 */
import { defineConnector, each, GRANTABLE_READ } from '../src/connector/define.ts'

export const figma = defineConnector({
  slug: 'figma',
  title: 'Figma',
  kind: 'connector',
  credentials: 'brand',
  when: 'The deployment offers Figma (Nango configured) and the brand has connected it.',
  needs: [{ circumstance: 'figma-offered' }],
  tools: [
    ...each('figma_whoami figma_file_outline figma_read_nodes figma_export_images figma_comments', GRANTABLE_READ),
    ...each('figma_components_styles figma_team_projects figma_project_files', GRANTABLE_READ),
  ],
  withheld: [
    { what: 'Posting or deleting comments and reactions', why: "They speak to people in the brand's name." },
    { what: 'variables', why: "They are the design system's own settings." },
    { what: 'dev resources and webhooks', why: 'They tie the file to other systems.' },
    { what: 'library analytics', why: 'They need an enterprise plan and answer no question asked so far.' },
  ],
  notes: ['No write scope is requested.'],
})
