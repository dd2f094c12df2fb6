import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const read = (...parts: string[]) => readFileSync(join(import.meta.dirname, ...parts), 'utf8')

it('docs/connectors.md shows the connector that the tests run, letter for letter', () => {
  const [, shown] = /```ts\n([\s\S]*?)```/.exec(read('../../docs/connectors.md')) ?? []
  expect(shown).toBe(read('example/notes.ts').replace("'../../../src/", "'../src/"))
})
