/** The operator's figures for spend: up to what a call runs unasked, by unit and by connector. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createWorld, type World } from './world.ts'

let world: World
beforeEach(() => {
  world = createWorld()
})
afterEach(() => world.remove())

test('are texts, never floats', () => {
  const yaml = `
mcpServers:
  shop:
    type: http
    url: https://shop.example/mcp
    tools: { buy: { access: spend, cost: { unit: USD, argument: budget, actual: structuredContent.cost } } }
spend: { askAbove: { shop: 0.05, firecrawl: 25 } }
`
  const config = world.load(yaml, { TOLLGATE_ASK_ABOVE_CREDITS: '3', TOLLGATE_ASK_ABOVE_USD: '0.000000001' })
  expect(config.askAbove).toEqual({ credits: '3', usd: '0.000000001' })
  expect(config.spend).toEqual({ askAbove: { shop: '0.05', firecrawl: '25' } })
  expect(config.servers[0]?.tools).toMatchObject({
    buy: { cost: { unit: 'usd', argument: 'budget', actual: 'structuredContent.cost' } },
  })
})

test.each(['-1', '1e3', 'ten', '0x1', '1,5', 'NaN', ' 1'])('refuses %j with what to write', (text) => {
  expect(world.problems({}, { TOLLGATE_ASK_ABOVE_USD: text }).join()).toContain(
    'TOLLGATE_ASK_ABOVE_USD must be a plain number such as 0.1, not negative.',
  )
})

test.each([[-1], ['much'], [null], [1e21]])('refuses %j in the file', (figure) => {
  expect(world.problems({ spend: { askAbove: { shop: figure } } }).join()).toContain('spend.askAbove.shop')
})
