/**
 * Memory: seven note tools, and two that rewrite the standing instructions of every later session.
 * @module
 */
import { defineConnector, each } from '../src/connector/define.ts'

export const memory = defineConnector({
  slug: 'memory',
  title: 'Memory',
  kind: 'platform',
  credentials: 'none',
  when: 'Always.',
  tools: [
    ...each('memory_read memory_search memory_list', { access: 'read', grantable: false, ask: 'never' }),
    ...each('memory_write memory_append memory_review memory_merge', {
      access: 'write',
      grantable: false,
      ask: 'never',
    }),
    ...each('soul_update goals_update', {
      access: 'write',
      grantable: false,
      ask: 'always',
      withoutChannel: 'absent',
      approvalsOff: 'runs',
      note: 'Standing instructions: each call asks a person when approvals are on. Not registered for an unattended run.',
    }),
  ],
  notes: ["A person's chat has the brand's notes; a coworker run has its own private notebook."],
})
