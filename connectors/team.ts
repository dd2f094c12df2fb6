/**
 * Team: the brand's coworkers, and handing them work.
 * @module
 */
import { defineConnector, each } from '../src/connector/define.ts'

export const team = defineConnector({
  slug: 'team',
  title: 'Team',
  kind: 'platform',
  credentials: 'none',
  when: 'The brand has at least one coworker.',
  needs: [{ circumstance: 'brand-has-coworker' }],
  tools: [
    ...each('team_roster team_status team_result', { access: 'read', grantable: false, ask: 'never' }),
    ...each('team_assign team_cancel', { access: 'write', grantable: false, ask: 'never' }),
  ],
  notes: ['On a read-only route only with the default harness.'],
})
