/**
 * Google Sheets: the sheets this app made, and two writes that each ask a person.
 * @module
 */
import { defineConnector, each, GRANTABLE_READ } from '../src/connector/define.ts'

export const sheets = defineConnector({
  slug: 'sheets',
  title: 'Google Sheets',
  kind: 'connector',
  credentials: 'brand',
  when: 'The brand has connected Google Sheets.',
  tools: [
    ...each('sheets_list', GRANTABLE_READ),
    ...each('sheets_export sheets_append', {
      access: 'write',
      grantable: false,
      ask: 'always',
      withoutChannel: 'refuses',
    }),
  ],
  withheld: [
    {
      what: 'Reading files this app did not create',
      why: "The scope asked for covers the app's own files and no others.",
    },
    { what: 'delete', why: 'It cannot be undone.' },
    { what: 'sharing', why: "It shows the brand's data to others." },
    { what: 'overwriting cells', why: 'What stood there is lost; appending loses nothing.' },
    { what: 'formatting', why: 'It is for the person who reads the sheet.' },
  ],
  notes: ['In a grant, the Google credential is narrowed to the scopes of the granted products.'],
})
