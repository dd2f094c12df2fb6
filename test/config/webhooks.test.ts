import { afterEach, beforeEach, expect, it } from 'vitest'
import { createWorld, type World } from './world.ts'

let world: World
beforeEach(() => {
  world = createWorld()
})
afterEach(() => world.remove())

it('webhooks go to public addresses only, unless the file says otherwise', () => {
  expect(world.load({}).webhooks).toEqual({ allowPrivate: false, hosts: [] })
  const written = { webhooks: { allowPrivate: true, hosts: ['hooks.internal', '127.0.0.1', '::1'] } }
  expect(world.load(written).webhooks).toEqual(written.webhooks)
})

it.each([
  [{ hosts: ['https://hooks.internal'] }, /hosts.*without scheme and port/],
  [{ hosts: ['Hooks.internal'] }, /small letters/],
  [{ hosts: ['*'] }, /a host name/],
  [{ allowPrivate: 'yes' }, /allowPrivate/],
  [{ private: true }, /private/],
])('webhooks %j is refused', (webhooks, problem) => {
  expect(world.problems({ webhooks })).toEqual([expect.stringMatching(problem)])
})
