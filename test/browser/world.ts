/**
 * What a test of the inbox in a browser needs: a whole gateway with a scripted upstream, calls that wait in it, people
 * who may decide, and pages to look at.
 * @module
 */
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { until } from '../approvals/world.ts'
import { ADMIN_KEY, type Gateway, startGateway } from '../support/gateway.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { launch } from './chromium.ts'

export { ADMIN_KEY }

export interface World {
  readonly gateway: Gateway
  readonly upstream: Upstream
  readonly browser: Browser
  /** A call that waits for a person; the id of its card. */
  call(args: object, more?: { brand?: string; tool?: string; token?: string }): Promise<string>
  /** A session that can ask people. */
  session(brand?: string): Promise<string>
  approver(brand: string, name: string): Promise<{ readonly id: string; readonly token: string }>
  card(id: string): Promise<any>
  statusOf(id: string): Promise<string>
  /** Waits until a card has this status. */
  ended(id: string, status: string): Promise<void>
  /** A page of a browser profile of its own, signed in where a key is given. */
  page(options?: BrowserContextOptions & { key?: string }): Promise<Page>
  signIn(page: Page, key: string): Promise<void>
  close(): Promise<void>
}

/** The card in the list that says this. */
export const item = (page: Page, text: string): Locator => page.locator('#cards > li', { hasText: text })

/** A text tool with these arguments. */
export const textTool = (name: string, title: string, description: string, names: readonly string[]) => ({
  name,
  title,
  description,
  inputSchema: {
    type: 'object',
    properties: Object.fromEntries(names.map((each) => [each, { type: 'string' }])),
    required: names,
  },
})

/** What the upstream offers. */
export const TOOLS: readonly { readonly name: string }[] = [
  textTool('write_file', 'Write file', 'Writes a file, and replaces one that is there.', ['path', 'content']),
  textTool('send_message', 'Send message', 'Sends a message.', ['to', 'subject', 'text']),
  textTool('book', 'Book flight', 'Books a flight, and says nothing.', ['flight']),
  textTool('find', 'Search the web', 'Finds pages.', ['query']),
]

const done = (answer: { text(text: string): void }) => answer.text('Done.')

/** Starts it, with tools of two servers that both brands may call; `servers` are more of `mcpServers`. */
export async function createWorld(
  env: Record<string, string> = {},
  servers: Record<string, unknown> = {},
): Promise<World> {
  const upstream = await startUpstream({
    tools: TOOLS,
    behaviours: { write_file: done, send_message: done, find: done, book: ({ response }) => void response.destroy() },
  })
  const server = { type: 'http', url: upstream.url, brands: '*' }
  const gateway = await startGateway(
    {
      files: { ...server, tools: { write_file: { access: 'write', standing: true } } },
      mail: server,
      search: { ...server, tools: { find: { access: 'spend', ask: true, cost: { unit: 'credits', amount: '2' } } } },
      ...servers,
    },
    { TOLLGATE_APPROVAL_WAIT_MS: '0', ...env },
  )
  const browser = await launch()
  const tokens = new Map<string, string>()

  async function session(brand = 'acme'): Promise<string> {
    return gateway.token({ role: 'person-chat', brand, approval: { channel: 'inbox' } })
  }

  const world: World = {
    gateway,
    upstream,
    browser,
    session,
    async call(args, { brand = 'acme', tool = 'files__write_file', token } = {}) {
      const as = token ?? tokens.get(brand) ?? (await session(brand))
      if (token === undefined) tokens.set(brand, as)
      const { answer } = await gateway.rpc(as, 'tools/call', { name: tool, arguments: args })
      const id = answer?.result?._meta?.['dev.tollgate/decision']?.card?.id
      if (typeof id !== 'string') throw new Error(`no card: ${JSON.stringify(answer)}`)
      return id
    },
    async approver(brand, name) {
      const { status, body } = await gateway.api('POST', '/v1/approvers', { brand, name })
      if (status !== 201) throw new Error(JSON.stringify(body))
      return { id: body.id, token: body.token }
    },
    async card(id) {
      return (await gateway.api('GET', `/v1/approvals/${id}`)).body
    },
    statusOf: async (id) => (await world.card(id)).status,
    ended: (id, status) => until(async () => (await world.statusOf(id)) === status, 15_000),
    async page({ key, ...options } = {}) {
      const context = await browser.newContext({ baseURL: gateway.url, ...options })
      context.setDefaultTimeout(20_000)
      const page = await context.newPage()
      if (key !== undefined) await world.signIn(page, key)
      return page
    },
    async signIn(page, key) {
      await page.goto('/inbox')
      await page.getByLabel('Approver token or admin key').fill(key)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('heading', { name: 'Inbox' }).waitFor()
    },
    async close() {
      await browser.close()
      await gateway.close()
      await upstream.close()
    },
  }
  return world
}
