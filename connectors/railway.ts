/**
 * Railway: projects, deployments and logs, and two tools that each need a switch of their own and an approval.
 * @module
 */
import { defineConnector, each, GRANTABLE_READ } from '../src/connector/define.ts'
import type { ToolFacts } from '../src/connector/declaration.ts'

const GATED: ToolFacts = { access: 'write', grantable: false, ask: 'always', withoutChannel: 'absent' }

export const railway = defineConnector({
  slug: 'railway',
  title: 'Railway',
  kind: 'connector',
  credentials: 'brand',
  when: 'The brand has connected Railway.',
  tools: [
    ...each('railway_workspaces railway_project railway_deployments', GRANTABLE_READ),
    ...each('railway_variable_names railway_logs', GRANTABLE_READ),
    {
      name: 'railway_reveal_variables',
      ...GATED,
      needs: [{ switch: 'RAILWAY_ALLOW_VARIABLE_VALUES', otherwise: 'absent' }],
      note: 'It changes nothing, but what it reveals are secrets.',
    },
    {
      name: 'railway_redeploy',
      ...GATED,
      needs: [{ switch: 'RAILWAY_ALLOW_REDEPLOY', otherwise: 'absent' }],
    },
  ],
  withheld: [
    { what: 'Variable writes', why: 'They change what runs, and hold secrets.' },
    { what: 'service and project changes', why: 'They change what runs.' },
    { what: 'domains', why: 'They change what the public reaches.' },
    { what: 'volumes', why: 'They hold data that cannot be got back.' },
    { what: 'deploy controls other than redeploy', why: 'They take a running service away.' },
    { what: 'service settings', why: 'They change what runs.' },
    { what: 'members and tokens', why: 'They decide who may do what.' },
    { what: 'networking', why: 'It changes what can reach what.' },
  ],
  unverified: [{ what: 'Railway calls with a real credential', records: ['RAILWAY_UNVERIFIED.live_calls'] }],
})
