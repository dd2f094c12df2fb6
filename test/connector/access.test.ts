import { expect, test } from 'vitest'
import { createAccess } from '../../src/connector/mcp/access.ts'

test('a tool nobody classified counts as a write that asks by itself', () => {
  expect(createAccess({})('anything')).toEqual({ access: 'write', ask: false, grantable: false })
})

test('an exact name wins over a pattern, and the longer pattern over the shorter', () => {
  const access = createAccess({
    '*': 'write',
    'read_*': 'read',
    'read_secret*': { access: 'read', ask: true },
    read_secrets: 'write',
  })
  expect(access('read_file').access).toBe('read')
  expect(access('read_secret_key')).toEqual({ access: 'read', ask: true, grantable: false })
  expect(access('read_secrets').access).toBe('write')
  expect(access('delete').access).toBe('write')
})

test('between patterns of equal weight the stricter word counts, in either order', () => {
  expect(createAccess({ 'ab*': 'read', '*cd': 'write' })('abcd').access).toBe('write')
  expect(createAccess({ '*cd': 'write', 'ab*': 'read' })('abcd').access).toBe('write')
})

test('a write is never grantable, a read and a spend may be', () => {
  const access = createAccess({
    w: { access: 'write', grantable: true },
    r: { access: 'read', grantable: true },
    s: { access: 'spend', grantable: true, cost: { unit: 'credits', amount: '2' } },
  })
  expect(access('w').grantable).toBe(false)
  expect(access('r').grantable).toBe(true)
  expect(access('s')).toEqual({
    access: 'spend',
    ask: false,
    grantable: true,
    cost: { unit: 'credits', amount: '2' },
    asks: 'above-threshold',
  })
})

test('a pattern matches whole names, with case and without overlap', () => {
  const access = createAccess({ 'ab*ba': 'read' })
  expect(access('abba').access).toBe('read')
  expect(access('ab-x-ba').access).toBe('read')
  for (const name of ['aba', 'Abba', 'abbaa', 'xabba']) expect(access(name).access).toBe('write')
})

test('a pattern of many stars costs little', () => {
  const access = createAccess({ [`${'*a'.repeat(40)}*`]: 'read' })
  const began = process.cpuUsage()
  access('a'.repeat(39).padEnd(5_000, 'b'))
  expect(process.cpuUsage(began).user).toBeLessThan(50_000)
})

test('an approval may stand for always only where the operator says so', () => {
  const access = createAccess({
    a: { access: 'write', standing: true },
    b: { access: 'write', standing: false },
    c: 'write',
  })
  expect(['a', 'b', 'c'].map((name) => access(name).standing)).toEqual([true, undefined, undefined])
})
