/** A list says in words that it is empty on purpose. */
import { expect, it } from 'vitest'
import type { RegisteredTool, Withheld } from '../../src/connector/connector.ts'
import type { ToolView } from '../../src/gate/views.ts'
import { createLists } from '../../src/http/mcp/lists.ts'
import type { Session } from '../../src/policy/words.ts'

const session = { id: 's_1', channel: 'none' } as Session
const tool = {
  name: 'mcp__files__read_file',
  ownName: 'read_file',
  connector: 'files',
  access: 'read',
  definition: { legacy: '', modern: '' },
} as RegisteredTool

function list(tools: RegisteredTool[], withheld: Withheld[], scope?: string) {
  const lists = createLists({ pageSize: 10, key: Buffer.from('a key'), withheld: () => withheld })
  const page = lists.page(session, { tools } as unknown as ToolView, scope, 'modern', undefined)
  return JSON.parse((page ?? []).map(String).join(''))
}

const AWAY: Withheld = { tool: 'mcp__slow__*', code: 'upstream_unavailable', reason: 'slow did not answer yet.' }

it('an empty ceiling: no tools, and that is said', () => {
  const { tools, _meta } = list([], [])
  expect(tools).toEqual([])
  expect(_meta).toEqual({ 'dev.tollgate/empty': expect.stringContaining('This session may call no tools here.') })
})

it('nothing there right now: what is away is named beside it', () => {
  expect(list([], [AWAY])._meta).toEqual({
    'dev.tollgate/empty': expect.stringContaining('right now'),
    'dev.tollgate/withheld': [AWAY],
  })
})

it('a connector without tools for the session says so, too', () => {
  expect(list([tool], [], 'search')._meta).toEqual({ 'dev.tollgate/empty': expect.stringMatching(/no tools here/) })
})

it('a list with tools says nothing of it', () => {
  expect(list([tool], [])._meta).toBeUndefined()
  expect(list([tool], [AWAY])._meta).toEqual({ 'dev.tollgate/withheld': [AWAY] })
})
