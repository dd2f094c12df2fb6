/** Commands of people who decide: approvers, answers and how far they go, and cards as they come. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorld, type Ran, run, type World } from './world.ts'

let world: World
let token: string
beforeAll(async () => {
  world = await createWorld()
  token = (await world.cli('approver', 'create', '--name', 'Ann')).out.trim()
})
afterAll(() => world.close())

let files = 0
async function park(more: object = {}, session?: string): Promise<string> {
  const id = session ?? (await world.api.issue({ role: 'person-chat' })).id
  return (await world.api.park(id, 'mcp__files__write_file', { path: `${files++}.txt`, ...more })).id
}
/** A command with an approver token and no other key. */
const ann = (...args: string[]): Promise<Ran> =>
  run(args, { env: { TOLLGATE_URL: world.url, TOLLGATE_APPROVER_TOKEN: token } })

describe('approver', () => {
  it('create prints the token alone when piped, and all about it at a terminal', async () => {
    expect(token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/)
    const typed = await world.typed('approver', 'create', '--name', 'Bo', '--brand', 'acme', '--ttl', '3600')
    expect(typed.out).toMatch(/^Approver a_[\w-]{22} is live: Bo for the brand acme, until /)
    expect(typed.out).toContain("export TOLLGATE_APPROVER_TOKEN='ey")
    expect(typed.out).toContain('/inbox')
    const taken = await world.cli('approver', 'create', '--name', 'Bo', '--brand', 'acme', '--json')
    expect([taken.code, JSON.parse(taken.err).code]).toEqual([1, 'name_taken'])
    expect((await world.cli('approver', 'create')).err).toMatch(/^tollgate: Required option .*--name.*See --help\.\n$/)
  })

  it('list and revoke show who there is, and end one', async () => {
    const made = JSON.parse((await world.cli('approver', 'create', '--name', 'Cy', '--brand', 'acme', '--json')).out)
    const list = await world.cli('approver', 'list', '--brand', 'acme')
    expect(list.out.split('\n')[0]).toMatch(/^APPROVER +STATUS +BRAND +ISSUED +EXPIRES +NAME$/)
    expect(list.out).toMatch(new RegExp(`${made.id} +live +acme .* Cy\n`))
    expect((await world.cli('approver', 'revoke', made.id)).out).toContain('is revoked: Cy for the brand acme')
    const refused = await run(['cards'], { env: { TOLLGATE_URL: world.url, TOLLGATE_APPROVER_TOKEN: made.token } })
    expect([refused.code, refused.err]).toEqual([
      1,
      expect.stringContaining('does not take the approver token from TOLLGATE_APPROVER_TOKEN'),
    ])
    expect(refused.err).not.toContain(made.token)
    expect((await world.cli('approver', 'revoke', 'a_nobody')).err).toContain('There is no approver "a_nobody"')
  })

  it('token does for cards and for nothing else', async () => {
    const id = await park()
    expect((await ann('cards', 'show', id)).out).toContain(`Card:      ${id}`)
    const { code, err } = await ann('sessions')
    expect([code, err]).toEqual([1, expect.stringContaining('or set TOLLGATE_ADMIN_KEY.\n')])
  })
})

describe('approve, deny and settle', () => {
  it('say who decided and through which door, and bind to what was shown', async () => {
    const id = await park()
    const shown = /Shown: +(\w{64})/.exec((await ann('cards', 'show', id)).out)?.[1]
    const stale = await ann('approve', id, '--shown', 'f'.repeat(64))
    expect([stale.code, stale.err]).toEqual([1, expect.stringContaining('not what you were shown')])
    const { out } = await ann('approve', id, '--shown', shown!, '--note', 'go', '--json')
    expect(JSON.parse(out)).toMatchObject({
      status: 'approved',
      decidedBy: 'approver Ann',
      decidedVia: 'cli',
      decidedAddress: '127.0.0.1',
      note: 'go',
    })
    const late = await world.cli('deny', id, '--json')
    expect([late.code, JSON.parse(late.err).card.decidedBy]).toEqual([1, 'approver Ann'])
    expect((await ann('cards', 'show', id)).out).toMatch(/Decided: +by approver Ann over cli, .*: go\n/)
  })

  it('go as far as they are told, and what stands is listed and taken back', async () => {
    const id = await park({ text: 'x' })
    const similar = '{"arguments":{"text":"x*"},"count":3,"ttlSeconds":600}'
    const alone = await ann('approve', id, '--similar', similar)
    expect([alone.code, alone.err]).toEqual([1, expect.stringContaining('--similar needs --scope session')])
    const { out } = await ann('approve', id, '--scope', 'session', '--similar', similar)
    expect(out).toMatch(/^Approved: .*\nIt stands: calls like it, \{"text":"x\*"\}, this session, 3 more, until .*\n$/)
    const standing = /standing revoke (\S+)"/.exec(out)?.[1]
    const list = await ann('standing')
    expect(list.out).toMatch(/^ID +STATE +BRAND +USED +HOW FAR +CALL\n/)
    expect(list.out).toContain(`${standing}  live   default  `)
    expect((await ann('standing', 'revoke', standing!)).out).toMatch(/^Taken back: /)
    expect((await ann('standing')).out).toBe('No approval stands.\n')
    expect((await ann('standing', 'revoke', standing!)).err).toContain('taken back by approver Ann')
    const never = await ann('approve', await park(), '--scope', 'always')
    expect([never.code, never.err]).toEqual([1, expect.stringContaining('"always" is not offered')])
  })

  it('settle what nobody knows', async () => {
    const id = await park()
    expect((await ann('settle', id, 'maybe')).err).toBe('tollgate: Write "happened" or "did-not", not "maybe".\n')
    await ann('approve', id)
    await world.api.cards.claim(id, 'attempt')
    await world.api.cards.finish(id, { status: 'unknown', code: 'outcome_unknown' })
    expect((await ann('settle', id, 'did-not', '--note', 'asked')).out).toMatch(/^Settled, it did not happen: /)
    expect((await ann('cards', 'show', id)).out).toMatch(/Settled: +by approver Ann: it did not happen\n/)
  })
})

describe('cards', () => {
  it('are narrowed by status, role, tool and session', async () => {
    const session = (await world.api.issue({ role: 'person-chat' })).id
    const [one, two] = [await park({}, session), await park({}, session)]
    await ann('deny', one)
    const ids = async (...args: string[]) =>
      JSON.parse((await ann('cards', '--session', session, '--json', ...args)).out).items.map(
        ({ id }: { id: string }) => id,
      )
    expect(await ids()).toEqual([two])
    expect(await ids('--status', 'denied,pending')).toEqual([two, one])
    expect(await ids('--tool', 'files/write_file', '--role', 'person-chat')).toEqual([two])
    expect(await ids('--role', 'coworker')).toEqual([])
    expect((await ann('cards', '--status', 'maybe')).code).toBe(1)
  })

  /** Follows cards until told to stop. */
  function watch(...args: string[]) {
    const end = new AbortController()
    let out = ''
    const env = { TOLLGATE_URL: world.url, TOLLGATE_APPROVER_TOKEN: token }
    const heard = (text: string) => {
      out += text
    }
    const ran = run(['cards', '--watch', ...args], { env, signal: end.signal, heard })
    return {
      lines: () => out.split('\n').slice(0, -1),
      until: (part: string) => expect.poll(() => out, { timeout: 10_000 }).toContain(part),
      async stop() {
        end.abort()
        return ran
      },
      ran,
    }
  }

  it('watched are told of as they wait, arrive, are decided and finish; stopping is no failure', async () => {
    const session = await world.api.issue({ role: 'person-chat' })
    const before = await park({}, session.id)
    const watched = watch('--session', session.id)
    await watched.until(before)
    const id = await park({}, session.id)
    await watched.until(id)
    await world.cli('approve', id)
    await watched.until('approved by operator')
    await world.api.gate.runApproved((await world.api.cards.get(id))!, await world.api.session(session.id))
    await watched.until(`${id}  done`)
    const { code, err } = await watched.stop()
    expect([code, err]).toEqual([0, ''])
    expect(watched.lines().map((line) => line.split('  ').slice(1, 4))).toEqual([
      [before, 'pending', 'default'],
      [id, 'pending', 'default'],
      [id, 'approved by operator', 'default'],
      [id, 'done', 'default'],
    ])
  })

  it('watched as JSON are one document a line, and narrowed as they are told to be', async () => {
    const session = await world.api.issue({ role: 'person-chat' })
    const watched = watch('--session', session.id, '--tool', 'files/write_file', '--status', 'denied', '--json')
    const id = await park({}, session.id)
    await world.api.park(session.id, 'mcp__files__delete_file', { path: 'x' })
    await world.cli('deny', id, '--note', 'no\nway')
    await watched.until(id)
    expect((await watched.stop()).code).toBe(0)
    expect(watched.lines().map((line) => JSON.parse(line))).toMatchObject([
      { event: 'decided', card: { id, status: 'denied', note: 'no\nway' } },
    ])
  })

  it('watched through a restart of the gateway lose none and tell none twice', async () => {
    const session = await world.api.issue({ role: 'person-chat' })
    const watched = watch('--session', session.id)
    const first = await park({}, session.id)
    await watched.until(first)
    await world.restart()
    await world.cli('deny', first)
    const second = await park({}, session.id)
    await watched.until(`${first}  denied`)
    await watched.until(second)
    const { code, err } = await watched.stop()
    expect([code, watched.lines().length]).toEqual([0, 3])
    expect(err === '' || err.includes('trying again')).toBe(true)
  }, 20_000)

  it('watched with a key that is refused, or at no gateway, say so at once', async () => {
    const env = { TOLLGATE_URL: world.url, TOLLGATE_APPROVER_TOKEN: `${token}x` }
    expect(await run(['cards', '--watch'], { env })).toMatchObject({
      code: 1,
      err: expect.stringContaining('approver token'),
    })
    const away = await run(['cards', '--watch'], { env: { ...env, TOLLGATE_URL: 'http://127.0.0.1:1' } })
    expect([away.code, away.err]).toEqual([1, expect.stringContaining('No gateway answers')])
    expect((await ann('cards', '--watch', '--limit', '3')).err).toContain('leave --limit and --cursor out')
  })

  it('watched by an approver who is revoked meanwhile end with the reason', async () => {
    const made = JSON.parse((await world.cli('approver', 'create', '--name', 'Di', '--json')).out)
    let out = ''
    const ran = run(['cards', '--watch', '--json'], {
      env: { TOLLGATE_URL: world.url, TOLLGATE_APPROVER_TOKEN: made.token },
      heard: (text) => {
        out += text
      },
    })
    const seen = await park()
    await expect.poll(() => out).toContain(seen)
    await world.cli('approver', 'revoke', made.id)
    const unseen = await park()
    expect((await ran).code).toBe(1)
    expect(out).not.toContain(unseen)
  })
})
