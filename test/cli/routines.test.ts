/**
 * `tollgate routines` against a gateway.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createWorld, type World } from './world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world.close())

test('a routine is made, given a tool, shown, made ready and listed from the command line', async () => {
  const made = await world.cli('routines', 'create', 'Triage', '--connections', 'files', '--json')
  const { id, state } = JSON.parse(made.out)
  expect([made.code, state]).toEqual([0, 'draft'])
  const { out: shown } = await world.cli('routines', 'show', id, '--json')
  const [first] = JSON.parse(shown).tools
  expect(first).toMatchObject({ state: 'disabled', proven: false })

  const early = await world.cli('routines', 'set', id, first.tool, 'automatic')
  expect([early.code, early.err]).toEqual([1, expect.stringContaining('enable it first')])
  expect(await world.cli('routines', 'set', id, first.tool, 'on')).toMatchObject({ code: 1 })
  const enabled = await world.cli('routines', 'set', id, first.listedAs, 'enabled')
  expect([enabled.code, enabled.out]).toEqual([0, expect.stringContaining('is enabled in Triage')])
  const unconfirmed = await world.cli('routines', 'set', id, first.tool, 'automatic', '--json')
  const { code, confirm } = JSON.parse(unconfirmed.err)
  expect(code).toBe('automatic_tool_confirmation_required')
  const unproven = await world.cli('routines', 'set', id, first.tool, 'automatic', '--confirm', confirm)
  expect(unproven.err).toContain('supervised')

  const outdated = await world.cli('routines', 'ready', id, '--made-from', '1')
  expect([outdated.code, outdated.err]).toEqual([1, expect.stringContaining(`${first.tool}: enabled (operator)`)])
  expect((await world.cli('routines', 'ready', id)).out).toContain('is ready')
  const table = (await world.cli('routines', 'show', id)).out
  expect(table).toMatch(new RegExp(`${first.tool} +enabled`))
  expect(table).toContain('THE SERVER SAYS')
  expect((await world.cli('routines', 'list')).out).toMatch(
    new RegExp(`${id} +ready +default +1 enabled, 0 of them automatic +Triage`),
  )
})

test('the calls of a supervised session read as a trace', async () => {
  const { id } = JSON.parse((await world.cli('routines', 'create', 'Look', '--connections', 'files', '--json')).out)
  const [first] = JSON.parse((await world.cli('routines', 'show', id, '--json')).out).tools
  expect((await world.cli('routines', 'traces', id)).out).toContain('No calls yet.')
  await world.cli('routines', 'set', id, first.tool, 'enabled')
  const session = await world.api.issue({ routine: id, supervised: true })
  await world.api.park(session.id, first.tool, { path: 'a.txt', password: 'hunter2' })
  for (const more of [[], ['--tool', first.tool], ['--session', session.id]]) {
    const { out } = await world.cli('routines', 'traces', id, ...more)
    expect(out).toMatch(/supervised +\S+ +asked +waiting \(approval_pending\)/)
    expect(out).toContain('a.txt')
    expect(out).not.toContain('hunter2')
  }
  expect((await world.cli('routines', 'traces', id, '--tool', 'files/nothing')).out).toContain('No calls yet.')
})
