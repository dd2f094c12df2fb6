/** I2: whatever names servers choose, each listed name leads to the one tool it stands for, and no two are alike. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Connector } from '../../src/connector/connector.ts'
import { createAccess } from '../../src/connector/mcp/access.ts'
import type { Link } from '../../src/connector/mcp/link.ts'
import { listTools } from '../../src/connector/mcp/list.ts'
import { readMessages } from '../../src/connector/mcp/message.ts'
import { slugFor } from '../../src/connector/mcp/names.ts'
import { createRegistry } from '../../src/connector/registry.ts'
import { createViews } from '../../src/gate/views.ts'
import { createLists } from '../../src/http/mcp/lists.ts'
import { STANDARD } from '../../src/policy/role-file.ts'
import type { Session } from '../../src/policy/words.ts'

/** A link whose upstream has these tools. */
function linkTo(tools: readonly string[]): Link {
  const definitions = tools.map((name) => ({ name, inputSchema: { type: 'object' } }))
  const answer = (id: number) => JSON.stringify({ jsonrpc: '2.0', id, result: { tools: definitions } })
  const request: Link['wire']['request'] = ({ id }, handlers) => {
    handlers.onMessage(readMessages(answer(id))![0]!)
    return () => {}
  }
  return { wire: { request }, nextId: () => 1, agreement: { era: 'legacy' } } as unknown as Link
}

async function connectorOf(server: string, names: readonly string[]): Promise<Connector> {
  const slug = slugFor(server)
  const listing = { slug, upstream: slug, standingOf: createAccess({ '*': 'read' }), snip: (text: string) => text }
  const outcome = await listTools(linkTo(names), { ...listing, timeoutMs: 5_000, known: new Map() })
  if ('failure' in outcome) throw new Error(outcome.failure)
  const { tools, withheld } = outcome.listed
  return {
    slug,
    title: server,
    serves: () => true,
    state: () => ({ state: 'ready', detail: '' }),
    tools: () => tools,
    withheld: () => withheld,
    call: () => {
      throw new Error('Nothing is called here.')
    },
    close: async () => {},
  }
}

const session = {
  id: 's_1',
  brand: 'acme',
  role: { name: 'all', builtins: [], holds: [], connectors: 'every', limits: {}, asksPerson: false },
  route: STANDARD,
  grant: { connectors: [], skills: [], allowance: {} },
  channel: 'none',
  limits: {},
  viewKey: 'all',
} as unknown as Session

const part = fc.constantFrom(
  'a',
  'b',
  'web',
  'web_scraper',
  'scraper',
  '_',
  '__',
  '-',
  '.',
  '/',
  'ａ',
  'а',
  'É',
  'x'.repeat(30),
  'y'.repeat(64),
)
const name = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''))
const catalog = fc.uniqueArray(fc.tuple(name, fc.uniqueArray(name, { minLength: 1, maxLength: 8 })), {
  minLength: 2,
  maxLength: 6,
  selector: ([server]) => slugFor(server),
})

test('in 1,000 random catalogs no name leads to another owner, and every listed name can be called', async () => {
  await fc.assert(
    fc.asyncProperty(catalog, async (servers) => {
      const connectors = await Promise.all(servers.map(([server, tools]) => connectorOf(server, tools)))
      const ceiling = connectors.map(({ slug }) => `mcp__${slug}__*`)
      const given = { ...session, ceiling, viewKey: JSON.stringify(ceiling) }
      const view = createViews(createRegistry(connectors), []).of(given)
      const lists = createLists({ pageSize: 1_000, key: Buffer.alloc(32), withheld: () => [] })
      const listed = (scope: string | undefined): string[] => {
        const [head, tools, tail] = lists.page(given, view, scope, 'legacy', undefined)!
        return JSON.parse(`${head}${tools.toString()}${tail}`).tools.map((tool: { name: string }) => tool.name)
      }

      const names = listed(undefined)
      expect(new Set(names).size).toBe(names.length)
      expect(new Set(names.map((one) => lists.find(view, undefined, one))).size).toBe(names.length)
      for (const one of names) {
        expect(one).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
        const tool = lists.find(view, undefined, one)!
        const owner = connectors.find(({ slug }) => slug === tool.connector)!
        expect(owner.tools()).toContain(tool)
        expect(servers.find(([server]) => slugFor(server) === owner.slug)![1]).toContain(tool.upstreamName)
      }
      for (const [server, tools] of servers) {
        const own = listed(slugFor(server)).map((one) => lists.find(view, slugFor(server), one)!)
        const left = connectors.find(({ slug }) => slug === slugFor(server))!.withheld().length
        // Each tool is listed once, or said to be left out.
        expect(new Set(own.map(({ upstreamName }) => upstreamName)).size + left).toBe(tools.length)
      }
    }),
    { numRuns: 1_000 },
  )
})
