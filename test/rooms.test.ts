/**
 * The house rules that can be read off the source: imports point one way, and one table has one owner.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'

const SRC = join(import.meta.dirname, '..', 'src')
/** A room imports only what stands left of it. `json` and `version` are files that stand left of all. */
const ORDER = [
  'json',
  'version',
  'policy',
  'db',
  'audit',
  'session',
  'connector',
  'grants',
  'approvals',
  'gate',
  'metrics',
  'http',
  'config',
  'app',
  'main',
  'demo',
  'cli',
]
const OWNERS = {
  signing_keys: 'session',
  sessions: 'session',
  approvers: 'session',
  cards: 'approvals',
  tool_definitions: 'approvals',
  webhooks: 'approvals',
  webhook_deliveries: 'approvals',
  coworkers: 'grants',
  goal_grants: 'grants',
  connections: 'grants',
  inbound_routes: 'grants',
  connection_consents: 'grants',
  oauth_states: 'grants',
  pin_sets: 'grants',
  tool_pins: 'grants',
  routines: 'grants',
  routine_tools: 'grants',
  day_caps: 'session',
  session_figures: 'session',
  spend: 'session',
  audit: 'audit',
  migrations: 'db',
}

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => ({ name, room: roomOf(join(SRC, name)), text: readFileSync(join(SRC, name), 'utf8') }))

function roomOf(path: string): string {
  return (relative(SRC, path).split('/')[0] as string).replace(/\.ts$/, '')
}

function importsOf(text: string): string[] {
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map((match) => match[1] as string)
}

describe('rooms', () => {
  test('every room has its place in the order', () => {
    expect([...new Set(files.map(({ room }) => room))].filter((room) => !ORDER.includes(room))).toEqual([])
  })

  test('imports point one way', () => {
    const wrong = files.flatMap(({ name, room, text }) =>
      importsOf(text)
        .map((target) => roomOf(join(SRC, name, '..', target)))
        .filter((target) => target !== room && ORDER.indexOf(target) >= ORDER.indexOf(room))
        .map((target) => `${name} imports ${target}`),
    )
    expect(wrong).toEqual([])
  })

  test('only app.ts joins rooms that stand apart: no room but app, main, demo and cli reads the configuration', () => {
    const readers = files.filter(({ text, name }) =>
      importsOf(text).some((target) => roomOf(join(SRC, name, '..', target)) === 'config'),
    )
    expect(
      readers.map(({ room }) => room).filter((room) => !['config', 'app', 'main', 'demo', 'cli'].includes(room)),
    ).toEqual([])
  })

  test('the policy room does no I/O', () => {
    const allowed = /^(\.|zod$|yaml$)/
    const imports = files
      .filter(({ room }) => room === 'policy')
      .flatMap(({ name, text }) => [...text.matchAll(/from '([^']+)'/g)].map((match) => `${name} ${match[1]}`))
    expect(imports.filter((line) => !allowed.test(line.split(' ')[1] as string))).toEqual([])
  })

  test('drizzle comes in through one door', () => {
    const doors = files.filter(({ text }) => /'drizzle-orm/.test(text)).map(({ name }) => name)
    expect(doors).toEqual(['db/drizzle.ts'])
  })

  test.each(Object.entries(OWNERS))('only one room writes the table %s', (table, owner) => {
    const writes = new RegExp(
      `\\b(insert|update|delete)\\(${table.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())}\\)|insert into ${table}\\b|update ${table} set|delete from ${table}\\b`,
    )
    expect([...new Set(files.filter(({ text }) => writes.test(text)).map(({ room }) => room))]).toEqual([owner])
  })

  test('every file opens with what it is', () => {
    const bare = files.filter(({ text }) => !/^(#!.*\n)?\/\*\*[\s\S]*?@module/.test(text))
    expect(bare.map(({ name }) => name)).toEqual([])
  })
})
