/**
 * Cloudflare: its documentation and API search, and `execute`, which asks a person on every call. No grant gives any of it.
 * @module
 */
import { defineConnector, each } from '../src/connector/define.ts'

export const cloudflare = defineConnector({
  slug: 'cloudflare',
  title: 'Cloudflare',
  kind: 'connector',
  credentials: 'brand',
  when: 'The brand has connected Cloudflare.',
  tools: [
    ...each('docs search', { access: 'read', grantable: false, ask: 'never' }),
    {
      name: 'execute',
      access: 'write',
      grantable: false,
      ask: 'always',
      withoutChannel: 'absent',
      needs: [{ switch: 'REQUIRE_WRITE_APPROVAL', otherwise: 'absent' }],
    },
  ],
  captured: [
    {
      what: "Cloudflare's OAuth discovery, registration and authorisation steps (2026-09-22)",
      records: ['MCP_OAUTH_CAPTURED'],
    },
  ],
  unverified: [{ what: 'A Cloudflare MCP handshake', records: ['CLOUDFLARE_UNVERIFIED.live_handshake'] }],
})
