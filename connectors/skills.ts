/**
 * Skills: written methods a session can load.
 * @module
 */
import { defineConnector, each } from '../src/connector/define.ts'

export const skills = defineConnector({
  slug: 'skills',
  title: 'Skills',
  kind: 'platform',
  credentials: 'none',
  when: 'The brand has at least one skill.',
  needs: [{ circumstance: 'brand-has-skill' }],
  tools: each('load_skill read_skill_file', { access: 'read', grantable: false, ask: 'never' }),
  notes: ['A specialist gets them with a bundled skill that its grant names, and only the skills named.'],
})
