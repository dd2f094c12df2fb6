/**
 * Sandbox: the shell and files of the container that stands in for those of the host.
 * @module
 */
import { defineConnector, each } from '../src/connector/define.ts'

export const sandbox = defineConnector({
  slug: 'sandbox',
  title: 'Sandbox',
  kind: 'environment',
  credentials: 'none',
  when: 'Every E2B session.',
  needs: [{ circumstance: 'e2b' }],
  tools: [
    ...each('read_file', { access: 'read', grantable: false, ask: 'never' }),
    ...each('bash write_file', { access: 'write', grantable: false, ask: 'never' }),
  ],
})
