import { expect, test } from 'vitest'
import { createRegistry } from '../../src/connector/registry.ts'
import { call, connector, entryOf, ready, textOf, until, upstream } from '../support/connectors.ts'
import { tool } from '../support/upstream.ts'

test('each tool belongs to its own connector, whatever the names', async () => {
  const behaviours = (owner: string) => ({
    search: (c: { text(t: string): void }) => c.text(`${owner} search`),
    scraper_search: (c: { text(t: string): void }) => c.text(`${owner} scraper_search`),
  })
  const web = await upstream({ tools: [tool('search'), tool('scraper_search')], behaviours: behaviours('web') })
  const scraper = await upstream({ tools: [tool('search')], behaviours: behaviours('web_scraper') })
  const made = [await ready(web, { name: 'web' }), await ready(scraper, { name: 'web_scraper' })].map(
    (each) => each.connector,
  )
  for (const order of [made, made.toReversed()]) {
    const registry = createRegistry(order)
    expect(registry.tools('any').map((found) => found.name)).toEqual([
      'mcp__web__scraper_search',
      'mcp__web__search',
      'mcp__web_scraper__search',
    ])
    const said: string[] = []
    for (const found of registry.tools('any'))
      said.push(textOf(await call(registry.find(found.connector, 'acme')!, found.upstreamName)))
    expect(said).toEqual(['web scraper_search', 'web search', 'web_scraper search'])
  }
})

test('a list stays the same array until something changed', async () => {
  const up = await upstream({ tools: [tool('a')] })
  const made = connector(entryOf(up.url, { brands: ['acme'] }), { changed: () => registry.changed() })
  const registry = createRegistry([made.connector])
  let told = 0
  const stop = registry.onChange(() => told++)
  await until(() => registry.tools('acme').length === 1)
  const before = registry.tools('acme')
  expect(registry.tools('acme')).toBe(before)
  expect(registry.tools('other')).toEqual([])
  expect(registry.withheld('other')).toEqual([])
  const generation = registry.generation()
  await until(() => up.listeners() === 1)
  up.setTools([tool('a'), tool('b')])
  up.notifyChanged()
  await until(() => registry.tools('acme').length === 2)
  expect(registry.generation()).toBe(generation + 1)
  expect(told).toBe(2)
  stop()
  registry.changed()
  expect(told).toBe(2)
})

test('two connectors of one slug are refused', () => {
  const made = connector(entryOf('http://127.0.0.1:1/')).connector
  expect(() => createRegistry([made, made])).toThrow('rename')
})
