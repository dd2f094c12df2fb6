/**
 * What connections need to reach brands' own servers, in tests that have none.
 * @module
 */
import type { ConnectionParts } from '../../src/grants/connections/connections.ts'

/** The strict rules, and nobody told. */
export const NO_REMOTES: Pick<ConnectionParts, 'publicUrl' | 'remote'> = {
  publicUrl: 'http://127.0.0.1:8787',
  remote: {
    clientInfo: { name: 'tollgate', version: '0.0.0' },
    // No test here starts a process.
    warden: { watch() {}, forget() {}, close() {} },
    pins: { guard: (_what, make, changed) => make({ changed, listed() {} }), forget: async () => {} },
    rules: { allowPrivate: false, hosts: [] },
  },
}
