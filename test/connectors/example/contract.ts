/**
 * What the API of Notes takes and gives.
 * @module
 */
import { openapi } from '../contract.ts'

const json = (properties: object, required: string[]) => ({
  content: { 'application/json': { schema: { type: 'object', properties, required } } },
})
const text = { type: 'string' }
const id = { name: 'id', in: 'path', required: true, schema: text }

export const notesContract = openapi({
  paths: {
    '/me': { get: { responses: { 200: json({ name: text }, ['name']) } } },
    '/notes/{id}': {
      get: { parameters: [id], responses: { 200: json({ title: text, text }, ['title', 'text']) } },
      put: {
        parameters: [id],
        requestBody: json({ text }, ['text']),
        responses: { 200: json({ version: { type: 'integer' } }, ['version']) },
      },
    },
  },
})
