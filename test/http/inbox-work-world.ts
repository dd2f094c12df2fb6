/**
 * The inbox's pages of tools, routines and runs over a whole gateway, and somebody's browser reduced to what it sends.
 * @module
 */
import { expect, vi } from 'vitest'
import { ADMIN_KEY, type Gateway, startGateway } from '../support/gateway.ts'
import { startUpstream, tool, type Upstream } from '../support/upstream.ts'

export const NAMES = ['look', 'send', 'other']
export const TOOLS = [
  tool('look', { annotations: { readOnlyHint: true } }),
  tool('send', { annotations: { readOnlyHint: true, 'x\u202e': '<b>safe</b>' } }),
  tool('other'),
]

/** Somebody signed in: the cookie their browser sends, and the token in their forms. */
export interface Person {
  readonly cookie: string
  readonly csrf: string
}

export interface Answered {
  readonly status: number
  readonly text: string
  readonly location: string | null
}

export interface WorkWorld {
  readonly gateway: Gateway
  readonly upstream: Upstream
  signIn(key?: string): Promise<Person>
  approver(brand: string): Promise<Person>
  get(path: string, by: Person): Promise<Answered>
  post(path: string, fields: Record<string, string>, by: Person, headers?: Record<string, string>): Promise<Answered>
  /** The hidden fields of the forms of a page that say this tool, but for the sign-in's token. */
  fields(path: string, name: string, by: Person): Promise<Record<string, string>>
  /** A routine of a brand over the server `up`; its id. */
  routine(brand?: string, name?: string): Promise<string>
  toolState(id: string, name: string): Promise<any>
  /** A supervised call that a person approves and that runs; the session's id. */
  supervise(id: string, name: string, args?: object): Promise<string>
  /** The server's tools as they are to be, read again. */
  describe(tools: readonly object[]): Promise<void>
  close(): Promise<void>
}

/** Starts it: a server of the operator's for the brands acme and other, one for other alone, and one that never changes. */
export async function createWorkWorld(): Promise<WorkWorld> {
  const ran = (call: { text(text: string): void }) => call.text('ran')
  const upstream = await startUpstream({
    tools: TOOLS,
    behaviours: Object.fromEntries([...NAMES, 'late'].map((name) => [name, ran])),
  })
  const calm = await startUpstream({ tools: [tool('still')] })
  const server = { type: 'http', url: upstream.url }
  const gateway = await startGateway(
    {
      up: { ...server, brands: ['acme', 'other'], tools: { look: 'read' } },
      theirs: { ...server, brands: ['other'] },
      about: { type: 'http', url: calm.url, brands: ['acme'] },
    },
    { TOLLGATE_APPROVAL_WAIT_MS: '0' },
    { connections: { hosts: ['127.0.0.1'] } },
  )
  await gateway.running.settled(10_000)
  let made = 0

  const send = async (path: string, init: RequestInit): Promise<Answered> => {
    const answer = await fetch(`${gateway.url}${path}`, { redirect: 'manual', ...init })
    return { status: answer.status, text: await answer.text(), location: answer.headers.get('location') }
  }
  const form = (fields: Record<string, string>, headers: Record<string, string>): RequestInit => ({
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(fields).toString(),
  })

  const world: WorkWorld = {
    gateway,
    upstream,
    async signIn(key = ADMIN_KEY) {
      const init = { redirect: 'manual', ...form({ key }, {}) } as const
      const cookie = (await fetch(`${gateway.url}/inbox/sign-in`, init)).headers.get('set-cookie')?.split(';')[0] ?? ''
      const { text } = await send('/inbox', { headers: { cookie } })
      return { cookie, csrf: /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '' }
    },
    async approver(brand) {
      const { body } = await gateway.api('POST', '/v1/approvers', { brand, name: `Ann of ${brand}` })
      return world.signIn(body.token)
    },
    get: (path, { cookie }) => send(path, { headers: { cookie } }),
    post: (path, fields, { cookie, csrf }, headers = {}) =>
      send(path, form({ csrf, ...fields }, { cookie, ...headers })),
    async fields(path, name, by) {
      const { text } = await world.get(path, by)
      const found = text.split('<form').find((each) => each.includes(`name="tool" value="${name}"`)) ?? ''
      const hidden = [...found.split('</form>')[0]!.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)]
      return Object.fromEntries(hidden.filter(([, key]) => key !== 'csrf').map(([, key, value]) => [key, value]))
    },
    async routine(brand = 'acme', name = `Routine ${++made}`) {
      const { status, body } = await gateway.api('POST', '/v1/routines', { brand, name, connections: ['up'] })
      expect(status).toBe(201)
      return body.id
    },
    async toolState(id, name) {
      const { body } = await gateway.api('GET', `/v1/routines/${id}/tools`)
      return body.items.find((one: any) => one.tool === `mcp__up__${name}`)
    },
    async supervise(id, name, args = {}) {
      const { body } = await gateway.api('POST', '/v1/sessions', { routine: id, supervised: true })
      const asked = await gateway.modern(body.token, 'tools/call', { name: `up__${name}`, arguments: args })
      const card = asked.answer.result._meta['dev.tollgate/decision'].card.id
      expect((await gateway.api('POST', `/v1/approvals/${card}/approve`, {})).status).toBe(200)
      await vi.waitFor(async () => {
        const { items } = (await gateway.api('GET', `/v1/traces/${body.id}`)).body
        expect(items).toMatchObject([{ outcome: 'done' }])
      }, 5_000)
      return body.id
    },
    async describe(tools) {
      upstream.setTools(tools)
      expect((await gateway.api('POST', '/v1/connections/up/discover?brand=acme')).status).toBe(200)
    },
    async close() {
      await gateway.close()
      await Promise.all([upstream.close(), calm.close()])
    },
  }
  return world
}
