/**
 * Transcripts: the brand's chat history. For people; no coworker reads it.
 * @module
 */
import { defineConnector, each } from '../src/connector/define.ts'

export const transcripts = defineConnector({
  slug: 'transcripts',
  title: 'Transcripts',
  kind: 'platform',
  credentials: 'none',
  when: 'Always for a person; never for a coworker.',
  tools: each('transcript_search transcript_read', { access: 'read', grantable: false, ask: 'never' }),
})
