/** Brands' own servers behind the gateway's doors: when they are connected, when they are let go, and where they never go. */
import type { lookup } from 'node:dns'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { connectors as catalogue } from '../../connectors/index.ts'
import { createAudit } from '../../src/audit/audit.ts'
import { AddressRefused } from '../../src/connector/mcp/address.ts'
import { createReach } from '../../src/connector/oauth/reach.ts'
import { sql } from '../../src/db/drizzle.ts'
import { createSeal } from '../../src/db/seal.ts'
import { type ConnectionParts, type Connections, createConnections } from '../../src/grants/connections/connections.ts'
import type { Session } from '../../src/policy/words.ts'
import { freshDatabase, quiet, type TestDatabase } from '../support/database.ts'
import { NO_REMOTES } from '../support/remote.ts'
import { startReceiver } from '../support/receiver.ts'
import { startUpstream, type Upstream, type UpstreamOptions } from '../support/upstream.ts'

let world: TestDatabase
const open: { close(): unknown }[] = []
beforeAll(async () => {
  world = await freshDatabase()
})
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
  await world.db.orm.execute(sql`truncate connections`)
})
afterAll(() => world.close())

/** One replica. */
async function replica(remote: Partial<ConnectionParts['remote']> = {}): Promise<Connections> {
  const audit = createAudit({ db: world.db, log: quiet })
  open.push(audit)
  const connections = await createConnections({
    ...{ db: world.db, audit, seal: createSeal('a secret of these tests'), log: quiet, key: Buffer.from('key') },
    ...{ catalogue, ownerBrand: 'owner', host: {}, overrides: {}, switches: {}, has: () => false },
    ...{ taken: new Set<string>(), changed: () => {} },
    ...NO_REMOTES,
    remote: { ...NO_REMOTES.remote, rules: { allowPrivate: true, hosts: [] }, ...remote },
  })
  open.push(connections)
  return connections
}
async function server(options: UpstreamOptions = {}): Promise<Upstream> {
  const started = await startUpstream(options)
  open.push(started)
  return started
}
const put = (connections: Connections, url: string, brand = 'acme') =>
  connections.putRemote(
    { brand, slug: 'notes' },
    { url, headers: {}, tools: { '*': 'read' } },
    { version: undefined, by: 'operator' },
  )
const only = (connections: Connections, brand = 'acme') => connections.of(brand)[0]!
async function until(isSo: () => boolean) {
  for (let tries = 0; tries < 400 && !isSo(); tries++) await new Promise((resolve) => setTimeout(resolve, 5))
  expect(isSo()).toBe(true)
}
const call = (connections: Connections, name: string, brand = 'acme') => {
  const connector = only(connections, brand)
  const tool = connector.tools().find(({ upstreamName }) => upstreamName === name)!
  return connector.call({
    ...{ tool, session: { id: 's', brand } as Session, argumentsText: '{}', extraText: '', metaText: '' },
    ...{ elicitation: { form: false, url: false }, onProgress: undefined },
    ask: () => Promise.reject(new Error('Nobody is asked in this test.')),
  })
}

describe('a server', () => {
  it('is connected when its brand first needs it, not before, and once however many do', async () => {
    const up = await server()
    const connections = await replica()
    await put(connections, up.url)
    expect(only(connections).state().state).toBe('connecting')
    expect(only(connections).withheld()).toMatchObject([{ tool: 'mcp__notes__*' }])
    expect(connections.wake('other')).toBeUndefined()
    expect(connections.wake('acme', (slug) => slug === 'something')).toBeUndefined()
    expect(up.requests).toEqual([])
    await Promise.all([connections.wake('acme'), connections.wake('acme'), connections.wake('acme')])
    expect(only(connections).state().state).toBe('ready')
    expect(up.of('tools/list')).toHaveLength(1)
    expect(connections.wake('acme')).toBeUndefined()
  })

  it('is joined on every replica, and gone from every replica', async () => {
    const up = await server()
    const [a, b] = [await replica(), await replica()]
    await put(a, up.url)
    await until(() => b.of('acme').length === 1)
    await b.wake('acme')
    expect(only(b).tools().length).toBeGreaterThan(5)
    await a.remove({ brand: 'acme', slug: 'notes' }, 'operator')
    await until(() => b.of('acme').length === 0)
    await until(() => up.listeners() === 0)
  })

  it('is let go when nobody used it for a while, keeps its tools, and a call connects it again', async () => {
    const up = await server({ era: 'legacy', sessions: true })
    const connections = await replica({ idleMs: 60 })
    await put(connections, up.url)
    await connections.wake('acme')
    expect(up.sessions().length).toBeGreaterThan(0)
    const names = only(connections)
      .tools()
      .map(({ name }) => name)
    await until(() => up.sessions().length === 0)
    expect(only(connections).state().state).toBe('ready')
    expect(
      only(connections)
        .tools()
        .map(({ name }) => name),
    ).toEqual(names)
    expect(await call(connections, 'echo').answer).toMatchObject({ kind: 'result' })
  })

  it('that is used is not let go, however long a call takes', async () => {
    const up = await server()
    const connections = await replica({ idleMs: 40 })
    await put(connections, up.url)
    await connections.wake('acme')
    const slow = call(connections, 'hang')
    await new Promise((resolve) => setTimeout(resolve, 150))
    expect(up.aborted).toEqual([])
    slow.cancel('enough')
    expect(await slow.answer).toMatchObject({ kind: 'failed', ran: 'maybe' })
  })

  it('whose call is cancelled while it is being connected is never called', async () => {
    const up = await server({ era: 'legacy', sessions: true })
    const connections = await replica({ idleMs: 40 })
    await put(connections, up.url)
    await connections.wake('acme')
    await until(() => up.sessions().length === 0)
    const running = call(connections, 'echo')
    running.cancel('changed my mind')
    expect(await running.answer).toMatchObject({ kind: 'failed', ran: 'no' })
    expect(up.ledger).toEqual([])
  })

  it('that does not answer holds nobody up for long, and is not asked by each who comes', async () => {
    const connections = await replica()
    await put(connections, 'http://127.0.0.1:9/mcp')
    await connections.wake('acme')
    expect(only(connections).state()).toMatchObject({ state: 'failed' })
    expect(connections.wake('acme')).toBeUndefined()
  })
})

it('a thousand connections open nothing at the start, and one brand’s session opens one', async () => {
  const up = await server()
  const first = await replica()
  await put(first, up.url)
  await world.db.orm.execute(sql`
    insert into connections (brand, slug, connector, sealed, secrets, settings, identity, changed_by)
    select 'brand-' || i, slug, connector, sealed, secrets, settings, identity, changed_by
    from connections, generate_series(1, 1000) as i where brand = 'acme'`)
  const late = await replica()
  for (let i = 1; i <= 1000; i++) expect(only(late, `brand-${i}`).slug).toBe('notes')
  expect(up.requests).toEqual([])
  await late.wake('acme')
  expect(up.of('tools/list')).toHaveLength(1)
  // Sealed for another place, its credentials do not open for this one.
  await late.wake('brand-7')
  expect(only(late, 'brand-7').state()).toMatchObject({ state: 'failed' })
  expect(up.of('tools/list')).toHaveLength(1)
})

describe('a name that changes its mind', () => {
  /** Public when it is judged, and inside from then on. */
  function turning(): { readonly resolver: typeof lookup; asked(): number } {
    let asked = 0
    const resolver = ((_host: string, _options: unknown, done: (error: null, found: object[]) => void) =>
      done(null, [{ address: asked++ === 0 ? '93.184.216.34' : '127.0.0.1', family: 4 }])) as unknown as typeof lookup
    return { resolver, asked: () => asked }
  }

  it('is taken when it is stated, and never connected to', async () => {
    const listener = await startReceiver()
    open.push(listener)
    const { resolver } = turning()
    const connections = await replica({ rules: { allowPrivate: false, hosts: [] }, resolver })
    const url = `https://turning.example:${new URL(listener.url).port}/mcp`
    expect(await connections.refusalOf(url)).toBeUndefined()
    await put(connections, url)
    await connections.wake('acme')
    expect(only(connections).state()).toMatchObject({
      state: 'failed',
      detail: expect.stringContaining('address inside'),
    })
    expect(listener.connections()).toBe(0)
  })

  it('is judged anew at each of three hundred requests to authorization servers', async () => {
    const listener = await startReceiver()
    open.push(listener)
    const { resolver, asked } = turning()
    resolver('turning.example', { all: true }, () => {})
    const reach = createReach({ rules: { allowPrivate: false, hosts: [] }, userAgent: 'test', resolver })
    open.push(reach)
    const url = `https://turning.example:${new URL(listener.url).port}/token`
    const results = await Promise.allSettled(Array.from({ length: 300 }, () => reach.fetch(url, { method: 'POST' })))
    expect(results.every((one) => one.status === 'rejected' && one.reason instanceof AddressRefused)).toBe(true)
    expect(asked()).toBe(301)
    expect(listener.connections()).toBe(0)
  })
})
