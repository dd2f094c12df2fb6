/** A brand's own daily figure for goal reviews, over REST and when a review starts (seed 001, "Goal reviewer"). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorld, type World } from './api-world.ts'

describe('the goal reviewer’s day', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld({ caps: { dayUsd: { 'goal-reviewer': 0.25 } } })
  })
  afterAll(() => world.close())

  const start = async () => (await world.ask('POST', '/v1/sessions', { role: 'goal-reviewer' })).status
  const endedAt = async (usd: number) => {
    const { body } = await world.ask('POST', '/v1/sessions', { role: 'goal-reviewer' })
    await world.ask('POST', `/v1/sessions/${body.id}/end`, { usd })
  }

  it('is the deployment’s figure until the brand sets its own', async () => {
    expect((await world.ask('GET', '/v1/goals/reviewer')).body).toEqual({
      brand: 'default',
      perDayUsd: null,
      deploymentPerDayUsd: 0.25,
      holds: 0.25,
    })
  })

  it('takes the smaller of the two, and a larger wish of the brand lifts nothing', async () => {
    const raised = await world.ask('PUT', '/v1/goals/reviewer', { perDayUsd: 5 })
    expect(raised.body).toMatchObject({ perDayUsd: 5, holds: 0.25 })
    const lowered = await world.ask('PUT', '/v1/goals/reviewer', { perDayUsd: 0.15 })
    expect(lowered.body).toMatchObject({ perDayUsd: 0.15, holds: 0.15 })
  })

  it('starts no review that could pass it, and another brand’s figure changes nothing', async () => {
    await world.ask('PUT', '/v1/goals/reviewer', { brand: 'other', perDayUsd: 0 })
    await endedAt(0.06)
    const refused = await world.ask('POST', '/v1/sessions', { role: 'goal-reviewer' })
    expect([refused.status, refused.body.code]).toEqual([409, 'session_limit'])
    expect(JSON.stringify(refused.body)).toContain('goal-reviewer dollars per day is 0.15')
    await world.ask('PUT', '/v1/goals/reviewer', { perDayUsd: 0.2 })
    expect(await start()).toBe(201)
  })

  it.each([[-1], ['0.1'], [null], [Number.MAX_VALUE * 10]])('refuses %s as a figure', async (perDayUsd) => {
    expect((await world.ask('PUT', '/v1/goals/reviewer', { perDayUsd })).status).toBe(422)
  })

  it('is written down', async () => {
    const { body } = await world.ask('GET', '/v1/audit?limit=200')
    const rows = body.items.filter((row: { subject?: string }) => row.subject === 'goal-reviewer')
    expect(rows.map((row: { reason: string }) => row.reason)).toContain('day figure: 0.15 US dollars')
  })
})
