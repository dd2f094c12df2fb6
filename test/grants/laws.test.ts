/** Laws that hold of any grant: what it gives is bounded, and less of it never gives more. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { connectors as catalogue } from '../../connectors/index.ts'
import { ceilingOf, grantedTools } from '../../src/grants/ceiling.ts'
import { USUAL_LIMITS } from '../../src/grants/profile.ts'
import { grantable, profileProblems } from '../../src/grants/rules.ts'
import { coworkerStart } from '../../src/grants/start.ts'
import { CREDITS, EVERYTHING, profile, roles, USD, words } from './world.ts'

const role = roles().get('specialist')!
const declared = new Map(catalogue.flatMap((one) => one.tools.map((tool) => [tool.name, { tool, one }])))
const everyTool = [...declared.keys()]
const everySkill = words().skills
const runs = { numRuns: 500 }

const allowances = fc.constantFrom({}, CREDITS, USD, { ...CREDITS, ...USD }, { firecrawl: { perRunCredits: 9 } })
const grants = fc.record({
  connectors: fc.uniqueArray(fc.constantFrom(...EVERYTHING, 'nowhere'), { maxLength: 8 }),
  skills: fc.uniqueArray(fc.constantFrom(...everySkill, 'home-made'), { maxLength: 3 }),
  allowance: allowances as fc.Arbitrary<Record<string, Record<string, number>>>,
})
const lives = fc.subarray(EVERYTHING)
const asks = fc.uniqueArray(fc.constantFrom('Read', 'Bash', ...everyTool), { maxLength: 8 })
const depths = fc.constantFrom(0, 1)
/** Grants that break no rule by themselves. */
const sound = fc
  .record({ connectors: fc.subarray(grantable(words()), { minLength: 6 }), skills: fc.subarray([...everySkill]) })
  .map((grant) => {
    const figures = Object.entries({ ...CREDITS, ...USD }).filter(([slug]) => grant.connectors.includes(slug))
    return { ...grant, allowance: Object.fromEntries(figures) as Record<string, Record<string, number>> }
  })
const namesOf = (...ask: Parameters<typeof grantedTools>) => grantedTools(...ask).map(({ name }) => name)

describe('whatever is granted', () => {
  it('a grant gives no write but the hand-off, nothing of a connector it does not name, and nothing that is not live', () => {
    fc.assert(
      fc.property(grants, asks, depths, lives, (grant, asked, maxDelegationDepth, live) => {
        for (const name of namesOf({ grant, asked, maxDelegationDepth, role }, words(live))) {
          if (role.withSkills?.includes(name)) {
            expect(grant.skills.some((skill) => everySkill.includes(skill))).toBe(true)
            continue
          }
          const { tool, one } = declared.get(name)!
          expect(live).toContain(one.slug)
          if (tool.ridesOn === undefined) {
            expect([tool.grantable, tool.access !== 'write']).toEqual([true, true])
            expect(grant.connectors).toContain(one.beside ?? one.slug)
            for (const slug of tool.joint ?? [])
              expect(grant.connectors.includes(slug) && live.includes(slug)).toBe(true)
            if (one.billing !== undefined) expect(Object.keys(grant.allowance)).toContain(one.slug)
            if (tool.optIn === true) expect(asked).toContain(name)
          } else {
            expect(grant.skills).toContain(tool.ridesOn)
            expect(maxDelegationDepth).toBeGreaterThanOrEqual(tool.delegationDepth ?? 0)
          }
        }
      }),
      runs,
    )
  })

  it('less of a grant, and less that is live, never gives a tool more', () => {
    fc.assert(
      fc.property(grants, asks, lives, fc.nat(), fc.nat(), (grant, asked, live, which, how) => {
        const all = new Set(namesOf({ grant, asked, maxDelegationDepth: 1, role }, words(live)))
        const without = <T>(list: readonly T[]) => list.filter((_, i) => i !== which % Math.max(1, list.length))
        const less = [
          () =>
            namesOf(
              { grant: { ...grant, connectors: without(grant.connectors) }, asked, maxDelegationDepth: 1, role },
              words(live),
            ),
          () =>
            namesOf(
              { grant: { ...grant, skills: without(grant.skills) }, asked, maxDelegationDepth: 1, role },
              words(live),
            ),
          () => namesOf({ grant: { ...grant, allowance: {} }, asked, maxDelegationDepth: 1, role }, words(live)),
          () => namesOf({ grant, asked, maxDelegationDepth: 0, role }, words(live)),
          () => namesOf({ grant, asked, maxDelegationDepth: 1, role }, words(without(live))),
        ]
        expect(less[how % less.length]!().filter((name) => !all.has(name))).toEqual([])
      }),
      runs,
    )
  })

  it('order and repetition in a grant change nothing', () => {
    fc.assert(
      fc.property(grants, asks, lives, (grant, asked, live) => {
        const turned = {
          ...grant,
          connectors: [...grant.connectors, ...grant.connectors].reverse(),
          skills: [...grant.skills].reverse(),
        }
        const one = namesOf({ grant, asked, maxDelegationDepth: 1, role }, words(live))
        const other = namesOf({ grant: turned, asked: [...asked].reverse(), maxDelegationDepth: 1, role }, words(live))
        expect(other.sort()).toEqual(one.sort())
      }),
      runs,
    )
  })

  it('a profile that may be saved loses no connector tool once all it grants is connected', () => {
    let saved = 0
    fc.assert(
      fc.property(sound, asks, depths, (grant, tools, maxDelegationDepth) => {
        const one = profile({ grant, tools, limits: { ...USUAL_LIMITS, maxDelegationDepth } })
        if (profileProblems(one, words()).length > 0) return
        saved++
        const { lost } = ceilingOf(role, { tools, grant, maxDelegationDepth }, words())
        expect(lost.filter(({ tool }) => declared.get(tool)?.one.kind === 'connector')).toEqual([])
      }),
      { numRuns: 1000 },
    )
    expect(saved).toBeGreaterThan(20)
  })

  it('a start asks for nothing beyond its ceiling, and never for an empty one', () => {
    fc.assert(
      fc.property(grants, asks, lives, (grant, tools, live) => {
        const known = words(live)
        const start = coworkerStart(profile({ grant, tools }), {}, known)
        const { held } = ceilingOf(role, { tools, grant, maxDelegationDepth: 0 }, known)
        expect(start.ok).toBe(held.length > 0)
        if (!start.ok) return
        expect(start.request.tools).toEqual(held)
        expect(start.request.grant?.connectors.every((slug) => live.includes(slug))).toBe(true)
      }),
      runs,
    )
  })
})
