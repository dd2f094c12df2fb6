import { expect, it } from 'vitest'
import { dayFigures, meet, retryProblems, runsAtOnce, startProblems, type Tally } from '../../src/session/limits.ts'
import { made } from './run-world.ts'

const calm: Tally = { liveInBrand: 0, liveRuns: 0, startedThisHour: 0, day: [] }

it('a count that nobody could read refuses', () => {
  const unread = { ...calm, liveInBrand: Number.NaN, liveRuns: Number.NaN, startedThisHour: Number.NaN }
  const caps = { liveSessionsPerBrand: 5, startsPerHour: { coworker: 5 } }
  expect(startProblems('coworker', 5, unread, caps).map(({ rule }) => rule)).toEqual([
    'live_sessions_per_brand',
    'concurrent_runs',
    'starts_per_hour',
  ])
  expect(startProblems('coworker', 5, calm, caps)).toEqual([])
  expect(startProblems('coworker', undefined, unread, {})).toEqual([])
})

it('every figure of a day that is passed is named', () => {
  const figure = { name: 'x.perDayUsd', figure: 'x.perRunUsd', perRun: 1, perDay: 3, used: '2.5' }
  const day = [
    { ...figure, fits: false },
    { ...figure, name: 'y.perDayUsd', fits: true },
  ]
  expect(startProblems('coworker', undefined, { ...calm, day }, {})).toEqual([
    {
      path: 'grant.allowance',
      rule: 'day_figure',
      detail:
        "x.perDayUsd is 3; today's runs count for 2.5, and this one could use 1. Start it tomorrow, or raise the figure.",
    },
  ])
})

it('a run without a per-run figure counts for the whole day', () => {
  const grant = { connectors: ['dataforseo'], skills: [], allowance: { dataforseo: { perDayUsd: 3 } } }
  const { session } = made({ role: 'coworker', grant, limits: {} })
  expect(dayFigures(session, 2)).toEqual([
    { name: 'dataforseo.perDayUsd', figure: 'dataforseo.perRunUsd', perRun: 3, perDay: 3 },
    { name: 'coworker dollars per day', figure: 'runUsd', perRun: 1, perDay: 2 },
  ])
})

it('a usual figure binds profiles, a stated one everybody, and the most a role has everybody too', () => {
  const { session, claims } = made({ role: 'coworker', limits: {} })
  const usual = { ...session, limits: { concurrentRuns: 1 } }
  expect(runsAtOnce(usual, claims, undefined)).toBeUndefined()
  expect(runsAtOnce(usual, claims, 'c1')).toBe(1)
  expect(runsAtOnce(usual, { ...claims, limits: { concurrentRuns: 1 } }, undefined)).toBe(1)
  const { limitsAre: _, ...most } = usual.role
  expect(runsAtOnce({ ...usual, role: most }, claims, undefined)).toBe(1)
})

it('a retry is told everything that stands against it', () => {
  const earlier = {
    id: 's1',
    brand: 'acme',
    role: 'coworker',
    coworker: 'c1',
    parent: 'p',
    attempt: 2,
    live: true,
    retried: true,
    ran: [],
  }
  const problems = retryProblems(earlier, { brand: 'acme', role: 'specialist', coworker: 'c1' }, undefined)
  expect(problems.map(({ rule }) => rule)).toEqual(['other_run', 'delegated', 'still_live', 'retried', 'attempts'])
})

it('two lists meet in what both allow', () => {
  expect(meet(['Read', 'mcp__a__*', 'mcp__b__x'], ['mcp__a__y', 'mcp__b__*', 'Write'])).toEqual([
    'mcp__b__x',
    'mcp__a__y',
  ])
  expect(meet(['mcp__a__*'], ['mcp__a__*'])).toEqual(['mcp__a__*'])
  expect(meet(['mcp__ab__*'], ['mcp__a__b'])).toEqual([])
})
