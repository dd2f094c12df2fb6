import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import * as seed from './seed.ts'
import { page } from './world.ts'

it('docs/tools.md is what the data says; `npm run docs` writes it anew', () => {
  expect(readFileSync(join(import.meta.dirname, '../../docs/tools.md'), 'utf8')).toBe(page())
})

it('the page names every tool of the seed', () => {
  const text = page()
  expect(seed.ALL_NAMES.filter((name) => !text.includes(`\`${name}\``))).toEqual([])
})
