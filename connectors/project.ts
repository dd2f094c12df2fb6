/**
 * Project folder: the brand's shared files.
 * @module
 */
import { defineConnector, each } from '../src/connector/define.ts'

export const project = defineConnector({
  slug: 'project',
  title: 'Project folder',
  kind: 'platform',
  credentials: 'none',
  when: 'Always.',
  tools: [
    ...each('project_list project_read', { access: 'read', grantable: false, ask: 'never' }),
    ...each('project_write project_append', { access: 'write', grantable: false, ask: 'never' }),
    {
      name: 'project_delete',
      access: 'write',
      grantable: false,
      ask: 'never',
      note: "Recursive, unapproved and final, so only a person's own chat holds it.",
    },
  ],
})
