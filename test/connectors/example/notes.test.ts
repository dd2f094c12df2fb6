import { testConnector } from '../suite.ts'
import { notesContract } from './contract.ts'
import { notes } from './notes.ts'

const TOKEN = 'canary-of-the-notes'

testConnector({
  connector: notes,
  apart: true,
  contract: notesContract,
  base: '/v1',
  fields: { token: TOKEN, space: 'acme' },
  auth: ({ authorization }) => (authorization === `Bearer ${TOKEN}` ? undefined : 'the token is missing'),
  check: { answers: { 'GET /me': { json: { name: 'Ada' } } }, says: /Signed in as Ada/ },
  tools: {
    notes_read: {
      works: [
        {
          args: { id: 'a/b' },
          answers: { 'GET /notes/{id}': { json: { title: 'A', text: 'Hello' } } },
          sends: [{ method: 'GET', path: '/notes/a/b' }],
          result: { title: 'A', text: 'Hello' },
        },
      ],
      bad: { 'an id that leaves its place': { args: { id: '' }, says: /"id"/ } },
      fails: {
        'a note that is not there': {
          answers: { 'GET /notes/{id}': { status: 404, text: '{"message":"no such note"}' } },
          code: 'invalid_arguments',
          says: /404: no such note/,
        },
      },
    },
    notes_write: {
      works: [
        {
          args: { id: 'a', text: 'Hi' },
          answers: { 'PUT /notes/{id}': { json: { version: 2 } } },
          sends: [{ method: 'PUT', path: '/notes/a', body: { text: 'Hi' } }],
          result: { version: 2 },
          summary: 'Replace the text of the note a.',
        },
      ],
      forbidden: { 'the home note': { args: { id: 'home', text: '' }, says: /home note of acme/ } },
    },
  },
})
