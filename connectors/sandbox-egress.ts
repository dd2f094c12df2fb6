/**
 * Sandbox network: asks a person to let the sandbox reach one more site. A run with nobody to ask has no such tool.
 * @module
 */
import { defineConnector } from '../src/connector/define.ts'

export const sandboxEgress = defineConnector({
  slug: 'sandbox_egress',
  title: 'Sandbox network',
  kind: 'environment',
  credentials: 'none',
  when: 'E2B only: person chat with approvals on and the sandbox in allowlist mode.',
  needs: [
    { circumstance: 'e2b' },
    { switch: 'REQUIRE_WRITE_APPROVAL', otherwise: 'absent' },
    { switch: 'SANDBOX_EGRESS', is: 'off', otherwise: 'absent' },
  ],
  tools: [
    {
      name: 'sandbox_allow_host',
      access: 'write',
      grantable: false,
      ask: 'always',
      withoutChannel: 'absent',
      note: 'Never in a coworker run, the goal agent or an inbound email turn.',
    },
  ],
  refused: [
    {
      what: 'Private, link-local and metadata addresses (`169.254.0.0/16` among them)',
      why: "They lead to the host's own network and its credentials, not to a site.",
    },
  ],
  captured: [
    {
      what: 'The sandbox allowlist: a listed host answered, unlisted hosts and a public IP were cut at TLS, `updateNetwork` widened a running sandbox in 55ms, and `169.254.169.254` still answered HTTP 401 (2026-10-11)',
      records: ['SANDBOX_EGRESS_CAPTURED'],
    },
    {
      what: "The root link-local rule at sandbox start refused `169.254.169.254` (`401` to `curl: (7)`) with the shell, files and `updateNetwork` still working, and the agent's user removed it with passwordless `sudo` (2026-10-12)",
      records: ['SANDBOX_EGRESS_CAPTURED'],
    },
    {
      what: "With the sandbox user's sudo taken away at start, `sudo -n`, `sudo -S`, `su` and tokenless calls to envd all failed and the link-local rule held, while `npm install`, `pip install --user` and `updateNetwork` still worked (2026-10-12, base template only)",
      records: ['SANDBOX_EGRESS_CAPTURED.sudo_removed_live_2026_10_12'],
    },
    {
      what: 'With the start-step lock, the root-run files the sandbox user could write went from 2 (`/usr/bin/envd`, `/etc/inittab`, both mode 777) to 0, appends to both were refused, and `npm install -g` and `pip install --user` still worked (2026-10-12, base template only)',
      records: ['SANDBOX_EGRESS_CAPTURED.root_run_lock_live_2026_10_12'],
    },
  ],
  unverified: [
    {
      what: 'The link-local rule and the sudo removal on the browser template, where the agent is root',
      records: ['SANDBOX_EGRESS_UNVERIFIED.link_local_block_browser_template'],
    },
    {
      what: 'What that start step leaves open: `/usr/local`, `/opt`, setuid programs, the browser template',
      records: ['SANDBOX_EGRESS_UNVERIFIED.root_run_lock_gaps'],
    },
    {
      what: "The DNS channel, writes to listed hosts with a caller's own token, and SNI/Host mismatch on shared CDNs",
      records: ['SANDBOX_EGRESS_UNVERIFIED'],
    },
    {
      what: 'A chat turn using the Allow once card end to end on the deployment',
      records: [],
    },
  ],
})
