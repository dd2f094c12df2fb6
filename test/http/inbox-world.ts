/**
 * The inbox over real cards and real approvers, and somebody's browser reduced to what it sends.
 * @module
 */
import { expect } from 'vitest'
import type { Card } from '../../src/approvals/cards.ts'
import { definitionChange } from '../../src/approvals/definitions.ts'
import { createSeal } from '../../src/db/seal.ts'
import { createInbox, type InboxParts } from '../../src/http/inbox/inbox.ts'
import { createPersonOf } from '../../src/http/person.ts'
import { createAdmin } from '../../src/session/admin.ts'
import { type Approvers, createApprovers } from '../../src/session/approvers.ts'
import { createKeyring } from '../../src/session/keys.ts'
import { call } from '../approvals/calls.ts'
import { freshRoom, type Room } from '../approvals/world.ts'
import { quiet } from '../support/database.ts'

export const KEY = 'an-admin-key-of-the-inbox-tests'
export const ORIGIN = 'https://gate.example'
export const seal = createSeal('a secret of the inbox tests, long enough')

type Inbox = ReturnType<typeof createInbox>
type Headers = Record<string, string>

/** Somebody signed in: the cookie their browser sends, and the token in their forms. */
export interface Signed {
  readonly cookie: string
  readonly csrf: string
}

export interface InboxWorld {
  readonly room: Room
  readonly approvers: Approvers
  /** The inbox, with other parts. */
  build(parts?: Partial<InboxParts>): Inbox
  get(path: string, headers?: Headers, app?: Inbox): Promise<Response>
  post(path: string, fields: Record<string, string>, headers?: Headers, app?: Inbox): Promise<Response>
  /** The text of a page that is there. */
  page(path: string, signed: Signed): Promise<string>
  signIn(key?: string, app?: Inbox): Promise<Signed>
  parked(more?: Parameters<typeof call>[0]): Promise<Card>
  statusOf(id: string): Promise<string | undefined>
  close(): Promise<void>
}

/** Builds it over a database of its own. */
export async function createInboxWorld(): Promise<InboxWorld> {
  const room = await freshRoom()
  const keyring = await createKeyring({ db: room.db, seal, log: quiet, audit: room.audit })
  const resource = `${ORIGIN}/mcp`
  const approvers = createApprovers({
    db: room.db,
    audit: room.audit,
    keyring,
    resource,
    audience: `${ORIGIN}/v1/approvals`,
    now: Date.now,
  })
  const build: InboxWorld['build'] = (parts = {}) =>
    createInbox({
      personOf: createPersonOf({ isAdmin: createAdmin(KEY), approvers }),
      approver: approvers.find,
      cards: room.cards,
      asker: async () => undefined,
      definitionChange: (card) => definitionChange(room.db, card),
      isStale: () => false,
      seal,
      inboxUrl: `${ORIGIN}/inbox`,
      now: Date.now,
      log: quiet,
      closing: new AbortController().signal,
      ...parts,
    })
  const inbox = build()

  const world: InboxWorld = {
    room,
    approvers,
    build,
    get: async (path, headers = {}, app = inbox) => app.request(path, { headers }),
    post: async (path, fields, headers = {}, app = inbox) =>
      app.request(path, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        body: new URLSearchParams(fields).toString(),
      }),
    async page(path, { cookie }) {
      const answer = await world.get(path, { cookie })
      expect(answer.status).toBe(200)
      return answer.text()
    },
    async signIn(key = KEY, app = inbox) {
      const answer = await world.post('/inbox/sign-in', { key }, {}, app)
      expect([answer.status, answer.headers.get('location')]).toEqual([303, '/inbox'])
      const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? ''
      const { csrf } = JSON.parse(await seal.open(cookie.slice(cookie.indexOf('=') + 1)))
      return { cookie, csrf }
    },
    async parked(more = {}) {
      const answer = await room.cards.park(call(more))
      if (!answer.ok) throw new Error(answer.problem)
      return answer.card
    },
    statusOf: async (id) => (await room.cards.get(id))?.status,
    async close() {
      keyring.close()
      await room.close()
    },
  }
  return world
}
