/**
 * Tailscale: the tailnet's devices, users, policy and DNS, to look at.
 * @module
 */
import { defineConnector, each, GRANTABLE_READ } from '../src/connector/define.ts'

export const tailscale = defineConnector({
  slug: 'tailscale',
  title: 'Tailscale',
  kind: 'connector',
  credentials: 'brand',
  when: 'The brand has connected Tailscale.',
  tools: each('tailscale_devices tailscale_device tailscale_users tailscale_policy tailscale_dns', GRANTABLE_READ),
  withheld: [
    { what: 'Authorizing, tagging or removing devices', why: 'They decide what is on the private network.' },
    { what: 'auth keys', why: 'A key lets anything join.' },
    { what: 'policy, DNS and settings edits', why: 'They change what can reach what.' },
    { what: "a worker's sandbox joining the tailnet", why: 'A sandbox runs what strangers wrote.' },
  ],
  notes: ['Every token is requested with read scopes only.'],
  unverified: [{ what: 'Tailscale calls with a real OAuth client', records: ['TAILSCALE_UNVERIFIED.live_calls'] }],
})
