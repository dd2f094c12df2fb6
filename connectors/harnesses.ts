/**
 * What is known of the harnesses that run sessions, beside what the connectors say of themselves.
 * @module
 */
import type { Records } from '../src/connector/declaration.ts'

export const harnesses: Required<Records> = {
  captured: [
    {
      what: 'An empty tool list sends zero tool schemas (local CLI 2.1.261, 2026-09-05)',
      records: ['GOALS_CAPTURED.empty_tools_on_the_wire', 'CLAUDE_CODE_CAPTURED'],
    },
    {
      what: 'One owner turn on the loop harness, with four MCP tools on the wire (2026-10-10)',
      records: ['LOOP_CAPTURED'],
    },
  ],
  unverified: [
    {
      what: 'Whether a denied call is fully prevented on the loop harness',
      records: ['LOOP_UNVERIFIED.denial_prevents_execution'],
    },
    { what: 'Anything on the Hermes harness or the MCP bridge', records: ['HERMES_UNVERIFIED', 'BRIDGE_UNVERIFIED'] },
    {
      what: 'What the CLI does with `settingSources: []` (no settings files, no CLAUDE.md)',
      records: ['CLAUDE_CODE_UNVERIFIED.setting_sources_empty'],
    },
  ],
}
