import { describe, expect, it } from 'vitest'
import type { Declaration, ToolDeclaration } from '../../src/connector/declaration.ts'
import { defineCatalogue, defineConnector, each, GRANTABLE_READ } from '../../src/connector/define.ts'

const read: ToolDeclaration = { name: 'look', ...GRANTABLE_READ }
const write: ToolDeclaration = {
  name: 'change',
  access: 'write',
  grantable: false,
  ask: 'always',
  withoutChannel: 'refuses',
}
const base: Declaration = {
  slug: 'shop',
  title: 'Shop',
  kind: 'connector',
  credentials: 'brand',
  when: 'The brand has connected it.',
  tools: [read, write],
}
const tool = (changed: object) => ({ ...base, tools: [{ ...read, ...changed }] }) as Declaration

describe('defineConnector', () => {
  it('names tools in canonical form and puts the needs of the connector before theirs', () => {
    const needs = [{ switch: 'GITHUB_ALLOW_WRITES', otherwise: 'refuses' }] as const
    const shop = defineConnector({ ...base, needs: [{ circumstance: 'e2b' }], tools: [{ ...read, needs }] })
    expect(shop.tools).toEqual([
      {
        ...read,
        name: 'mcp__shop__look',
        ownName: 'look',
        connector: 'shop',
        needs: [{ circumstance: 'e2b' }, ...needs],
      },
    ])
  })

  it('answers something that nothing can change', () => {
    const shop = defineConnector(base)
    expect(() => Object.assign(shop.tools[0]!, { grantable: true })).toThrow(TypeError)
    expect(() => Object.assign(shop, { kind: 'platform' })).toThrow(TypeError)
    expect(() => (shop.tools as unknown[]).push(read)).toThrow(TypeError)
  })

  it('writes the facts of several tools as one row', () => {
    expect(each(' a b\n c ', GRANTABLE_READ).map(({ name }) => name)).toEqual(['a', 'b', 'c'])
  })

  it.each<[string, Declaration, RegExp]>([
    ['a slug with two underscores', { ...base, slug: 'a__b' }, /a slug is/],
    ['no title', { ...base, title: ' ' }, /fill them in/],
    ['an unknown kind', { ...base, kind: 'server' as 'platform' }, /"kind" is one of/],
    ['no tool', { ...base, tools: [] }, /at least one tool/],
    ['a name twice', { ...base, tools: [read, read] }, /stands twice: look/],
    ['"*" beside a tool', { ...base, tools: [read, { ...read, name: '*' }] }, /no other can stand beside/],
    ['an unknown field', { ...base, tols: [] } as Declaration, /"tols" is not a field/],
    ['something left out without a reason', { ...base, withheld: [{ what: 'x', why: '' }] }, /says why/],
    ['a tool name with a blank', tool({ name: 'a b' }), /not a tool name/],
    ['an unknown field of a tool', tool({ grantible: true }), /"grantible" is not a field/],
    ['an unknown access', tool({ access: 'admin' }), /"access" is one of/],
    ['no word on grants', tool({ grantable: undefined }), /"grantable" is true or false/],
    ['a write that can be granted', tool({ ...write, grantable: true }), /a write is never grantable/],
    ['a grantable tool that asks', tool({ ...write, access: 'read', grantable: true }), /asks nobody/],
    ['a grantable platform tool', { ...base, kind: 'platform' }, /only a tool of a connector/],
    [
      'a write that asks nobody and does not say why',
      tool({ ...write, ask: 'never', withoutChannel: undefined }),
      /says why/,
    ],
    [
      'a gate without a word on what happens with no channel',
      tool({ ...write, withoutChannel: undefined }),
      /say "withoutChannel"/,
    ],
    ['a word on the channel for a tool that asks nobody', tool({ withoutChannel: 'refuses' }), /only there/],
    [
      'a tool that is absent though it also reads',
      tool({ ...write, ask: 'mutations', withoutChannel: 'absent' }),
      /cannot be absent/,
    ],
    [
      'spending without a unit',
      tool({ access: 'spend', ask: 'above-threshold', withoutChannel: 'refuses' }),
      /says its "billing"/,
    ],
    ['a unit without spending', { ...base, billing: { unit: 'usd', perRun: 'a', perDay: 'b' } }, /no other does/],
    [
      'an unknown switch',
      tool({ needs: [{ switch: 'ALLOW_ALL', otherwise: 'absent' }] }),
      /no switch is called "ALLOW_ALL"/,
    ],
    ['a switch of no effect', tool({ needs: [{ switch: 'SANDBOX_EGRESS' }] }), /or no effect/],
    [
      'an unknown circumstance',
      tool({ needs: [{ circumstance: 'sunshine' }] }),
      /no circumstance is called "sunshine"/,
    ],
    ['a joint tool without its own connector', tool({ joint: ['a', 'b'] }), /"joint" lists its own/],
    ['an opt-in tool beside nothing', tool({ optIn: true }), /stands "beside"/],
    ['a skill-borne tool in the read table', tool({ ridesOn: 'method' }), /is not granted with a connector/],
    ['an approval that stands for what asks nobody', tool({ standing: true }), /only what asks a person/],
    ['a proposal that writes', tool({ ...write, proposes: true }), /a proposal commits nothing/],
    [
      'a vendor’s tool that runs when approvals are off',
      tool({ ...write, approvalsOff: 'runs' }),
      /is for platform tools/,
    ],
  ])('refuses %s', (_, declaration, problem) => {
    expect(() => defineConnector(declaration)).toThrow(problem)
  })
})

describe('defineCatalogue', () => {
  it('refuses a slug that is defined twice', () => {
    expect(() => defineCatalogue([defineConnector(base), defineConnector(base)])).toThrow(/"shop" is defined twice/)
  })

  it('refuses a connector that leans on one that is not there', () => {
    const writer = defineConnector({ ...base, slug: 'writer', beside: 'shop' })
    const joint = defineConnector(tool({ joint: ['shop', 'search'] }))
    expect(() => defineCatalogue([writer])).toThrow(/names the connector "shop"/)
    expect(() => defineCatalogue([joint])).toThrow(/names the connector "search"/)
    expect(defineCatalogue([defineConnector(base), writer])).toHaveLength(2)
  })
})
