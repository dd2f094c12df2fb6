/** Commands that talk to a running gateway: what they print, what they exit with, what they say when it goes wrong. */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { shippedPolicies } from '../../src/config/files.ts'
import { ADMIN_KEY } from '../http/api-world.ts'
import { createWorld, run, type World } from './world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world.close())

const id = async () => (await world.api.issue({ role: 'person-chat' })).id as string

describe('token', () => {
  it('piped prints the token alone', async () => {
    const { code, out, err } = await world.cli('token', '--role', 'person-chat', '--ttl', '60')
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/)
    const session = await world.api.tokens.verify(`Bearer ${out.trim()}`)
    expect(session.expiresAt - session.issuedAt).toBe(60_000)
  })

  it('at a terminal says what the session holds and how to connect', async () => {
    const { out } = await world.typed(
      'token',
      '--role',
      'specialist',
      '--tools',
      'Read,files/read_file',
      '--grant',
      'files',
    )
    expect(out).toContain('specialist for the brand default')
    expect(out).toContain('Built-ins: Read')
    expect(out).toMatch(/files__read_file {2}read {4}runs/)
    expect(out).toContain("export GATEWAY_TOKEN='")
    expect(out).toContain('claude mcp add --transport http gateway')
    expect(out).not.toContain('\u001b')
  })

  it('as JSON is the whole answer', async () => {
    const { out } = await world.cli('token', '--role', 'person-chat', '--brand', 'acme', '--no-approval', '--json')
    const issued = JSON.parse(out)
    expect(issued).toMatchObject({ brand: 'acme', tools: [{ name: 'mcp__search__find' }] })
    expect((await world.api.session(issued.id)).channel).toBe('none')
  })

  it('starts a coworker, or says that there is none', async () => {
    const { code, err } = await world.cli('token', '--coworker', 'nobody')
    expect([code, err]).toEqual([1, expect.stringContaining('has no coworker "nobody"')])
  })

  it('of another attempt holds no more than the one before', async () => {
    const earlier = await world.api.issue({ role: 'goal-agent', tools: ['Read'] })
    await world.cli('sessions', 'end', earlier.id)
    const { out, err } = await world.cli('token', '--role', 'goal-agent', '--retry-of', earlier.id, '--json')
    expect(err).toBe('')
    expect(JSON.parse(out).builtins).toEqual(['Read'])
  })

  it('takes a route', async () => {
    const { out } = await world.cli('token', '--role', 'person-chat', '--route', 'read-only', '--json')
    expect(JSON.parse(out).tools).toEqual([])
  })

  it('takes the tools of an agent definition, and says which of its names match nothing', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-definition-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const path = join(folder, 'reader.yaml')
    await writeFile(
      path,
      'id: reader\ntoolNames: [files/read_file, read_files]\nmcpServers: { files: { command: npx } }\n',
    )
    const { code, out } = await world.typed('token', '--role', 'person-chat', '--definition', path)
    expect(code).toBe(0)
    expect(out).toMatch(/files__read_file {2}read {4}runs/)
    expect(out).not.toContain('files__write_file')
    expect(out).toMatch(/read_files {2}unknown_tool {2}"read_files" is no native tool/)
    expect(out).toContain('"mcp__gateway__files__read_file"')
  })

  it('fails with every rule broken, on stderr, and an empty stdout', async () => {
    const { code, out, err } = await world.cli('token', '--role', 'person-cat', '--tools', 'Foo Bar')
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain('Did you mean person-chat?')
    expect(err).toContain('"Foo Bar" is no tool name')
    const asJson = await world.cli('token', '--role', 'person-cat', '--json')
    expect(JSON.parse(asJson.err)).toMatchObject({
      status: 422,
      code: 'invalid_request',
      errors: [{ rule: 'unknown_role' }],
    })
  })
})

describe('sessions', () => {
  it('lists, shows, revokes and ends', async () => {
    const [one, two] = [await id(), await id()]
    const list = await world.cli('sessions', '--limit', '2')
    expect(list.out.split('\n')[0]).toMatch(/^SESSION +STATUS +BRAND +ROLE +ISSUED +EXPIRES$/)
    expect(list.out).toContain(`${two}  live`)
    expect((await world.cli('sessions', 'show', one)).out).toContain('files__read_file')
    expect((await world.cli('sessions', 'revoke', one)).out).toContain(`Session ${one} is revoked`)
    expect(JSON.parse((await world.cli('sessions', 'end', two, '--usd', '0.1', '--json')).out)).toMatchObject({
      id: two,
      status: 'ended',
      reportedUsd: '0.1',
    })
    const none = await world.cli('sessions', 'show', 's_none')
    expect([none.code, none.err]).toEqual([1, 'tollgate: There is no session "s_none"; GET /v1/sessions lists them.\n'])
  })
})

describe('cards', () => {
  it('are listed, shown, approved and denied', async () => {
    const session = await id()
    const { id: first } = await world.api.park(session, 'mcp__files__write_file', { path: 'a.txt' })
    const { id: second } = await world.api.park(session, 'mcp__files__write_file', { path: 'b.txt' })
    const list = await world.cli('cards')
    expect(list.out).toContain(first)
    expect(list.out).toContain('write_file on files with path "a.txt".')
    expect((await world.cli('cards', 'show', first)).out).toContain('Arguments: {"path":"a.txt"}')
    expect((await world.cli('approve', first, '--note', 'fine')).out).toBe(
      'Approved: write_file on files with path "a.txt".\n',
    )
    const again = await world.cli('deny', first)
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('approved by operator')])
    expect(JSON.parse((await world.cli('deny', second, '--json')).out).status).toBe('denied')
    expect((await world.cli('cards')).out).toBe('Nothing waits for a person.\n')
    expect((await world.cli('cards', '--status', 'all', '--json')).out).toContain(second)
  })
})

describe('explain', () => {
  it('says what would happen and why', async () => {
    const asks = await world.cli('explain', 'files/write_file', '--role', 'person-chat')
    expect(asks.out).toMatch(
      /^mcp__files__write_file: ask\nDecided by the gate: write-asks\.\n\nRULE +BECAUSE\nwrite-asks +This tool/,
    )
    const refuses = await world.cli('explain', 'files/write_file', '--role', 'person-chat', '--no-approval', '--json')
    expect(JSON.parse(refuses.out)).toMatchObject({ effect: 'deny', code: 'approval_required' })
    const ofSession = await world.cli(
      'explain',
      'files/read_file',
      '--session',
      await id(),
      '--arguments',
      '{"path":"a"}',
    )
    expect([ofSession.code, ...ofSession.out.split('\n').slice(0, 2)]).toEqual([
      0,
      'mcp__files__read_file: allow',
      'Decided by the gate: every-connector.',
    ])
  })

  it('lists recorded calls that other policies would have decided otherwise', async () => {
    const session = await id()
    await world.api.park(session, 'mcp__files__write_file', { path: 'what-if.txt' })
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-what-if-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    await cp(shippedPolicies(), folder, { recursive: true })
    const ask = () => world.cli('explain', '--what-if', folder, '--days', '1')
    await expect
      .poll(async () => (await ask()).out)
      .toMatch(/: [1-9]\d* decided alike, 0 otherwise, 0 not to be judged\./)
    const path = join(folder, 'person-chat.yaml')
    await writeFile(path, (await readFile(path, 'utf8')).replace('which: every', 'which: none'))
    const lines = (await ask()).out.split('\n')
    const row = lines.find((line) => line.includes(session)) ?? ''
    expect(row).toMatch(/^mcp__files__write_file +person-chat +default .* 1 +ask +ask +deny \(unknown_tool\) +The role/)
    await writeFile(path, 'role: person-chat\n')
    const broken = await ask()
    expect([broken.code, broken.out, broken.err]).toEqual([1, '', expect.stringContaining('person-chat.yaml:1: title')])
  })

  it('wants a tool or a folder, and not both', async () => {
    expect((await world.cli('explain', '--role', 'coworker')).err).toContain('Name a tool, or a folder')
    expect((await world.cli('explain', 'Read', '--what-if', '.')).err).toContain('leave the tool out')
  })

  it('wants to know whose call it is, and arguments that are an object', async () => {
    expect((await world.cli('explain', 'Read')).err).toBe(
      'tollgate: Say whose call it is: either --session ID or --role ROLE.\n',
    )
    const bad = await world.cli('explain', 'Read', '--role', 'coworker', '--arguments', '[1]')
    expect([bad.code, bad.err]).toEqual([1, expect.stringContaining('Write a JSON object')])
  })
})

describe('audit and rotate-keys', () => {
  it('reads and verifies', async () => {
    await id()
    const read = await world.cli('audit', '--kind', 'session.issued', '--limit', '1')
    expect(read.out).toMatch(/^AT +KIND +CODE +BRAND +SESSION +TOOL\n.*session\.issued/)
    const verified = await world.cli('audit', '--verify')
    expect([verified.code, verified.out]).toEqual([
      0,
      expect.stringMatching(/^The audit holds: \d+ rows in 1 chains\.\n$/),
    ])
  })

  it('rotates', async () => {
    expect((await world.cli('rotate-keys')).out).toMatch(
      /^New tokens are signed with the key .* stay good until they expire\.\n$/,
    )
    expect(JSON.parse((await world.cli('rotate-keys', '--retire-others', '--json')).out).retireOthers).toBe(true)
  })
})

describe('what goes wrong on the way', () => {
  it('no gateway: says how to start one', async () => {
    const env = { TOLLGATE_ADMIN_KEY: ADMIN_KEY, PORT: '1' }
    const { code, err } = await run(['sessions'], { env })
    expect([code, err]).toEqual([
      1,
      'tollgate: No gateway answers at http://127.0.0.1:1; start it with "tollgate serve", or say where it is with --url or TOLLGATE_URL.\n',
    ])
  })

  it('no key: says where one comes from', async () => {
    const { code, err } = await run(['sessions'], { env: { TOLLGATE_DATA: '/nowhere' } })
    expect([code, err]).toEqual([
      1,
      'tollgate: There is no admin key: set TOLLGATE_ADMIN_KEY, or run this where /nowhere/admin-key is (TOLLGATE_DATA names the data folder). For cards, TOLLGATE_APPROVER_TOKEN does as well.\n',
    ])
  })

  it('a wrong key: says which was used, and never prints it', async () => {
    const { code, err } = await run(['sessions'], {
      env: { TOLLGATE_URL: world.url, TOLLGATE_ADMIN_KEY: 'wrong-key-0123456789' },
    })
    expect([code, err]).toEqual([1, expect.stringContaining('does not take the admin key from TOLLGATE_ADMIN_KEY')])
    expect(err).not.toContain('wrong-key')
  })

  it('the key of the data folder is found', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-cli-'))
    try {
      await writeFile(join(folder, 'admin-key'), `${ADMIN_KEY}\n`)
      const { code } = await run(['sessions', '--url', world.url], { env: { TOLLGATE_DATA: folder } })
      expect(code).toBe(0)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('an address that is none is refused before anything is sent', async () => {
    const { err } = await run(['sessions', '--url', 'localhost:8787'], { env: { TOLLGATE_ADMIN_KEY: ADMIN_KEY } })
    expect(err).toContain('is no address of a gateway')
  })
})
