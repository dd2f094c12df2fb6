import { describe, expect, it } from 'vitest'
import { connectors } from '../../connectors/index.ts'
import { readSwitches, SWITCHES } from '../../src/policy/switches.ts'
import * as seed from './seed.ts'
import { policies, ROLES, role } from './world.ts'

const sorted = (names: readonly string[]) => [...names].sort()

describe('the roles at a glance', () => {
  it.each(seed.ROLES)('$title', (row) => {
    const file = role(row.role)
    expect(file.title).toBe(row.title)
    expect(sorted(file.builtins)).toEqual(sorted(row.builtins))
    expect(sorted(file.holds)).toEqual(sorted(row.holds))
    expect(sorted(file.withSkills ?? [])).toEqual(sorted('withSkills' in row ? row.withSkills : []))
    expect(file.connectors).toBe(row.connectors)
    expect(file.asksPerson).toBe(row.asks.startsWith('Yes'))
    expect(file.limits).toMatchObject(row.limits)
  })

  it('there is no other role but that of routines (seed 002), which holds nothing of its own', () => {
    const { routine, ...others } = Object.fromEntries(policies().roles)
    expect(routine).toMatchObject({ builtins: [], holds: [], connectors: 'routine', given: 'asked' })
    expect(sorted(Object.keys(others))).toEqual(sorted(seed.ROLES.map(({ role }) => role)))
  })

  it('every name a policy file lists is in the catalogue', () => {
    const known = new Set(connectors.flatMap(({ tools }) => tools.map(({ name }) => name)))
    const listed = ROLES.flatMap((name) => [...role(name).holds, ...(role(name).withSkills ?? [])])
    expect(listed.filter((name) => !known.has(name))).toEqual([])
  })

  it('a profile that only a person holds: deleting is in no other role, nor are the standing instructions', () => {
    const only = ['mcp__project__project_delete', ...seed.STANDING, ...seed.EGRESS]
    const holders = ROLES.filter((name) => only.some((tool) => role(name).holds.includes(tool)))
    expect(holders).toEqual(['person-chat'])
  })
})

describe('built-ins by role', () => {
  const says = (name: string, sandbox: boolean, tool: string) => {
    const file = role(name, sandbox)
    if (!file.builtins.includes(tool)) return 'No'
    return file.given === 'asked' ? 'If the profile asks' : 'Yes'
  }

  it.each(Object.entries(seed.BUILTIN_TABLE))('%s: %s', (tool, row) => {
    const readOnly = policies().routes.get('read-only')
    expect(
      [
        says('person-chat', false, tool),
        says('person-chat', true, tool),
        says('coworker', false, tool),
        says('goal-agent', false, tool),
        says('goal-reviewer', false, tool),
        readOnly?.keeps.includes(tool) ? 'Yes' : 'No',
      ].join(' | '),
    ).toBe(row)
    expect(says('specialist', false, tool)).toBe('If the profile asks')
    expect(says('inbound-email', false, tool)).toBe('No')
  })

  it('under the sandbox a coworker keeps two of them', () => {
    expect(role('coworker', true).builtins).toEqual(['WebSearch', 'WebFetch'])
    expect(role('specialist', true).builtins).toEqual(['WebSearch', 'WebFetch'])
  })

  it('no other built-in of the harness is offered to any role', () => {
    expect(policies().builtins).toEqual(seed.BUILTINS)
    for (const name of ROLES) {
      expect(role(name).builtins.filter((tool) => seed.NEVER_OFFERED.includes(tool))).toEqual([])
    }
  })
})

describe('the read-only route', () => {
  it('keeps what the seed says and no connector', () => {
    const route = policies().routes.get('read-only')
    expect(sorted([...(route?.keeps ?? [])])).toEqual(sorted(seed.READ_ONLY_KEEPS))
    expect(route?.connectors).toBe(false)
  })
})

describe('operator switches', () => {
  it('are those of the seed', () => {
    expect(sorted(SWITCHES.map(({ name }) => name))).toEqual(
      sorted([...seed.SWITCHES, ...seed.OTHER_SWITCHES].map(([name]) => name)),
    )
  })

  it.each(seed.SWITCHES)('%s counts as on: %s', (name, _, on, off) => {
    const read = (text: string) =>
      readSwitches({ [name]: text }).switches[name as keyof ReturnType<typeof readSwitches>['switches']]
    for (const text of on) expect(read(text), JSON.stringify(text)).toBe(true)
    for (const text of off) expect(read(text), JSON.stringify(text)).toBe(false)
  })

  it('a pending approval waits five minutes unless told otherwise, and 0 denies at once', () => {
    expect(readSwitches({}).switches.APPROVAL_TIMEOUT_MS).toBe(300_000)
    expect(readSwitches({ APPROVAL_TIMEOUT_MS: '0' }).switches.APPROVAL_TIMEOUT_MS).toBe(0)
    expect(readSwitches({ SANDBOX_EGRESS_ALLOWLIST: 'a.example' }).switches.SANDBOX_EGRESS_ALLOWLIST).toBe('a.example')
  })

  it('a misspelt "open" leaves the allowlist in force and is reported', () => {
    expect(readSwitches({ SANDBOX_EGRESS: 'opne' }).problems).toHaveLength(1)
  })
})
