/**
 * Goals: what the brand wants, steered by a person.
 * @module
 */
import { defineConnector, each } from '../src/connector/define.ts'

export const goals = defineConnector({
  slug: 'goals',
  title: 'Goals',
  kind: 'platform',
  credentials: 'none',
  when: 'The goals engine is on.',
  needs: [{ circumstance: 'goals-engine' }],
  tools: [
    ...each('goals_status', { access: 'read', grantable: false, ask: 'never' }),
    ...each('goals_ask goals_propose goals_note', { access: 'write', grantable: false, ask: 'never' }),
  ],
  unverified: [
    { what: 'A goal reviewer run on the deployment', records: ['GOALS_UNVERIFIED.zero_tool_worker'] },
    {
      what: 'A goal agent step, with or without a grant',
      records: ['GOALS_UNVERIFIED.agent_step_run', 'GOALS_UNVERIFIED.agent_step_with_grant'],
    },
  ],
})
