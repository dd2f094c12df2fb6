/**
 * Browser: reads pages in the sandbox, and lets a person sign in where that is configured.
 * @module
 */
import { defineConnector, each } from '../src/connector/define.ts'
import type { Need } from '../src/connector/declaration.ts'

const LOGINS: readonly Need[] = [
  { circumstance: 'browserbase' },
  { switch: 'BROWSERBASE_PERSISTENT_LOGINS', otherwise: 'absent' },
]
const WHY = "It turns a read into a write on someone else's site."

export const browser = defineConnector({
  slug: 'browser',
  title: 'Browser',
  kind: 'environment',
  credentials: 'none',
  when: 'E2B only: `SANDBOX_ALLOW_BROWSER` is exactly `true` and a browser provider is configured.',
  needs: [
    { circumstance: 'e2b' },
    { circumstance: 'browser-provider' },
    { switch: 'SANDBOX_ALLOW_BROWSER', otherwise: 'absent' },
  ],
  tools: [
    ...each('browse_text browse_screenshot', { access: 'read', grantable: false, ask: 'never' }),
    ...each('list_logins', { access: 'read', grantable: false, ask: 'never', needs: LOGINS }),
    ...each('start_login finish_login', { access: 'write', grantable: false, ask: 'never', needs: LOGINS }),
  ],
  withheld: [
    { what: 'Click', why: WHY },
    { what: 'type', why: WHY },
    { what: 'fill', why: WHY },
    { what: 'evaluate', why: WHY },
    { what: 'download', why: WHY },
    { what: 'PDF', why: WHY },
    { what: 'cookies', why: WHY },
    { what: 'persistent sessions', why: WHY },
  ],
  captured: [
    {
      what: 'The E2B sandbox runs as an ordinary user (2026-08-22), and browsing worked through the deployed app on the promoted browser template (2026-08-26)',
      records: ['BROWSER_CAPTURED'],
    },
  ],
})
