// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the file format has these in plain strings
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createWorld, type World } from './world.ts'

let world: World
beforeEach(() => {
  world = createWorld()
})
afterEach(() => world.remove())

describe('with nothing set', () => {
  it('everything has its default', () => {
    const config = world.load()
    expect(config).toMatchObject({
      port: 8787,
      host: '127.0.0.1',
      publicUrl: 'http://127.0.0.1:8787',
      resource: 'http://127.0.0.1:8787/mcp',
      dataFolder: join(world.folder, '.tollgate'),
      databaseUrl: undefined,
      ownerBrand: 'default',
      approvalWaitMs: 45_000,
      askAbove: { credits: '10', usd: '0.1' },
      spend: { askAbove: {} },
      logLevel: 'info',
      environment: 'local',
      servers: [],
      issuers: [],
      limits: { bodyBytes: 4 * 1024 * 1024, listPageSize: 1000 },
      notices: [],
    })
    expect(config.roles.size).toBe(7)
  })

  it('the keys are made once, for their owner alone, and found again', () => {
    const first = world.load()
    const second = world.load()
    for (const name of ['adminKey', 'secret'] as const) {
      const path = first[name].path!
      expect(first[name]).toMatchObject({ source: 'file', generated: true })
      expect(second[name]).toEqual({ ...first[name], generated: false })
      expect(statSync(path).mode & 0o777).toBe(0o600)
      expect(readFileSync(path, 'utf8').trim()).toBe(first[name].value)
      expect(first[name].value).toMatch(/^[A-Za-z0-9_-]{43}$/)
    }
    expect(first.adminKey.value).not.toBe(first.secret.value)
    expect(statSync(first.dataFolder).mode & 0o777).toBe(0o700)
  })

  it('nothing in it can be changed', () => {
    const config = world.load({ mcpServers: { a: { command: 'x', env: { K: 'v' } } } })
    const attempts = [
      () => Object.assign(config, { port: 1 }),
      () => Object.assign(config.switches, { AGENTMAIL_ALLOW_SENDS: true }),
      () => (config.servers as unknown[]).push({}),
      () => Object.assign(config.servers[0]!, { allowPrivate: true }),
      () => (config.roles.get('coworker')!.holds as string[]).push('mcp__a__b'),
      () => (config.roles as Map<string, unknown>).set('root', {}),
      () => (config.roles as Map<string, unknown>).delete('coworker'),
      () => Object.assign(config.routes.get('standard')!, { keeps: [] }),
    ]
    for (const attempt of attempts) expect(attempt).toThrow(TypeError)
  })
})

describe('the environment', () => {
  it('is read', () => {
    const config = world.load(undefined, {
      PORT: '0',
      HOST: '::1',
      TOLLGATE_DATA: 'data',
      DATABASE_URL: 'postgresql://u:p@db/x',
      TOLLGATE_ADMIN_KEY: 'a-key-of-some-length',
      TOLLGATE_SECRET: 'a-secret-of-some-length',
      TOLLGATE_OWNER_BRAND: 'acme',
      TOLLGATE_APPROVAL_WAIT_MS: '0',
      TOLLGATE_APPROVAL_LEASE_MS: '1000',
      TOLLGATE_LOG: 'debug',
      E2B_API_KEY: 'e2b_x',
      AGENTMAIL_ALLOW_SENDS: 'true',
    })
    expect(config).toMatchObject({
      port: 0,
      publicUrl: 'http://[::1]:0',
      dataFolder: join(world.folder, 'data'),
      ownerBrand: 'acme',
      approvalWaitMs: 0,
      approvalLeaseMs: 1_000,
      logLevel: 'debug',
      environment: 'e2b',
      adminKey: { value: 'a-key-of-some-length', source: 'env', generated: false },
      builtins: ['WebSearch', 'WebFetch'],
      notices: [],
    })
    expect(config.switches.AGENTMAIL_ALLOW_SENDS).toBe(true)
    expect(existsSync(config.dataFolder)).toBe(false)
  })

  it.each([
    ['https://gate.example/', 'https://gate.example', 'https://gate.example/mcp'],
    ['https://gate.example/tools/', 'https://gate.example/tools', 'https://gate.example/tools/mcp'],
    ['HTTPS://Gate.Example:443', 'https://gate.example', 'https://gate.example/mcp'],
  ])('TOLLGATE_PUBLIC_URL=%s', (text, publicUrl, resource) => {
    expect(world.load(undefined, { TOLLGATE_PUBLIC_URL: text })).toMatchObject({ publicUrl, resource })
  })

  it.each([
    ['PORT', 'http', 'PORT must be a whole number from 0 to 65535.'],
    ['PORT', '65536', 'PORT must be'],
    ['PORT', '-1', 'PORT must be'],
    ['PORT', '80.5', 'PORT must be'],
    ['PORT', '0x50', 'PORT must be'],
    ['HOST', 'http://localhost', 'HOST must be a host name'],
    ['HOST', 'localhost:80', 'the port goes into PORT'],
    ['TOLLGATE_PUBLIC_URL', 'gate.example', 'TOLLGATE_PUBLIC_URL is not a URL'],
    ['TOLLGATE_PUBLIC_URL', 'ftp://gate.example', 'TOLLGATE_PUBLIC_URL must begin with https://'],
    ['TOLLGATE_PUBLIC_URL', 'https://u:hunter2@gate.example', 'TOLLGATE_PUBLIC_URL carries credentials'],
    ['TOLLGATE_PUBLIC_URL', 'https://gate.example/?x=hunter2', 'take out what follows'],
    ['DATABASE_URL', 'mysql://u:hunter2@db', 'DATABASE_URL must begin with postgres://'],
    ['TOLLGATE_ADMIN_KEY', 'hunter2 hunter2', 'TOLLGATE_ADMIN_KEY holds a blank'],
    ['TOLLGATE_SECRET', 'hunter2é', 'TOLLGATE_SECRET holds a blank or a character outside ASCII'],
    ['TOLLGATE_OWNER_BRAND', 'a brand', 'TOLLGATE_OWNER_BRAND must be'],
    ['TOLLGATE_APPROVAL_WAIT_MS', '45s', 'TOLLGATE_APPROVAL_WAIT_MS must be a whole number'],
    ['TOLLGATE_APPROVAL_LEASE_MS', '0', 'TOLLGATE_APPROVAL_LEASE_MS must be a whole number from 1000 to 86400000.'],
    ['TOLLGATE_LOG', 'loud', 'TOLLGATE_LOG must be one of trace, debug'],
    ['TOLLGATE_CONFIG', 'nowhere.yaml', 'which is not there; correct the path.'],
    ['TOLLGATE_CONFIG', '.', 'which cannot be read (EISDIR)'],
    ['TOLLGATE_POLICIES', 'nowhere', 'which is not a folder that can be read (ENOENT)'],
    ['TOLLGATE_POLICIES', '.', 'No policy file is for the role "person-chat": add person-chat.yaml.'],
    ['TOLLGATE_DATA', '/proc/nowhere', 'let this user write to /proc/nowhere, or set TOLLGATE_ADMIN_KEY.'],
  ])('%s=%s stops the start', (name, text, expected) => {
    const said = world.problems(undefined, { [name]: text }).join('\n')
    expect(said).toContain(expected)
    expect(said).not.toContain('hunter2')
  })

  it('every problem is listed, and nothing is written while there is one', () => {
    const said = world.problems({ mcpServers: { a: {} } }, { PORT: 'x', TOLLGATE_LOG: 'x' })
    expect(said).toHaveLength(3)
    expect(existsSync(join(world.folder, '.tollgate'))).toBe(false)
  })

  it.each([
    ['TOLLGATE_CONIFG', 'x', 'TOLLGATE_CONIFG is not a variable this gateway reads; did you mean TOLLGATE_CONFIG?'],
    ['TOLLGATE_COLOUR', 'x', 'TOLLGATE_COLOUR is not a variable this gateway reads.'],
    [
      'AGENTMAIL_ALLOW_SEND',
      'true',
      'AGENTMAIL_ALLOW_SEND is not a variable this gateway reads; did you mean AGENTMAIL_ALLOW_SENDS?',
    ],
    [
      'AGENTMAIL_ALLOW_SENDS',
      'True',
      'AGENTMAIL_ALLOW_SENDS is "True": only exactly "true" turns it on, so it is off.',
    ],
    [
      'HOST',
      '0.0.0.0',
      'HOST is 0.0.0.0 and TOLLGATE_PUBLIC_URL is unset: tokens are made for http://localhost:8787. Set it to the address clients use.',
    ],
    [
      'TOLLGATE_ADMIN_KEY',
      'short',
      'TOLLGATE_ADMIN_KEY has fewer than 16 characters; make a longer one with: openssl rand -hex 32',
    ],
    [
      'DATABASE_URL',
      'postgres://db/x',
      'DATABASE_URL is set and TOLLGATE_SECRET is not: replicas need the same one, so set it before adding a second.',
    ],
  ])('%s=%s is told and does not stop it', (name, text, expected) => {
    expect(world.load(undefined, { [name]: text }).notices).toEqual([expected])
  })

  it('a variable the file refers to is no stranger', () => {
    const file = { mcpServers: { a: { command: 'x', env: { K: '${TOLLGATE_MINE}' } } } }
    expect(world.load(file, { TOLLGATE_MINE: 'v' }).notices).toEqual([])
  })
})

describe('the keys in the data folder', () => {
  it('an empty file stops the start', () => {
    mkdirSync(join(world.folder, '.tollgate'))
    writeFileSync(join(world.folder, '.tollgate', 'secret'), '\n', { mode: 0o600 })
    expect(world.problems().join()).toContain('holds no usable TOLLGATE_SECRET; put the old one back')
  })

  it('one that others can read is closed, and told', () => {
    mkdirSync(join(world.folder, '.tollgate'))
    const path = join(world.folder, '.tollgate', 'admin-key')
    writeFileSync(path, 'a-key-of-some-length\n', { mode: 0o644 })
    const config = world.load()
    expect(config.adminKey.value).toBe('a-key-of-some-length')
    expect(config.notices.join()).toContain('could be read by others')
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })
})
