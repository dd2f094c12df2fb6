/**
 * SEO briefs: written by the SEO analyst and handed to a content writer. They ride on the skill `seo-method`.
 * @module
 */
import { defineConnector } from '../src/connector/define.ts'

export const seo = defineConnector({
  slug: 'seo',
  title: 'SEO briefs',
  kind: 'connector',
  credentials: 'none',
  when: 'The grant names the `seo-method` skill.',
  tools: [
    { name: 'seo_save_brief', access: 'read', grantable: false, ask: 'never', ridesOn: 'seo-method', proposes: true },
    {
      name: 'seo_hand_off_brief',
      access: 'write',
      grantable: false,
      ask: 'never',
      ridesOn: 'seo-method',
      delegationDepth: 1,
      note: "It starts another coworker's run, which has limits of its own; the profile's `maxDelegationDepth` is the control.",
    },
  ],
  unverified: [
    {
      what: 'A live run of the SEO analyst, paid traffic and Content writer methods',
      records: ['SEO_UNVERIFIED.no_live_run', 'PPC_UNVERIFIED.no_live_run'],
    },
  ],
  notes: ['`WRITER_CAPTURED` is empty.'],
})
