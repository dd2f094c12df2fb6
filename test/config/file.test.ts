// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the file format has these in plain strings
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createWorld, type World } from './world.ts'

let world: World
beforeEach(() => {
  world = createWorld()
})
afterEach(() => world.remove())

const servers = (entry: object) => ({ mcpServers: { up: entry } })
const WEB = { type: 'http', url: 'https://up.example/mcp' }

describe('mcpServers', () => {
  it('a team’s .mcp.json works as it is', () => {
    const config = world.load(
      {
        mcpServers: {
          files: {
            command: 'npx',
            args: ['-y', 'server-filesystem', './docs'],
            env: { LEVEL: '${LEVEL:-quiet}', N: 3 },
            cwd: '/srv',
          },
          search: {
            type: 'http',
            url: 'https://mcp.example/mcp?k=${KEY}',
            headers: { Authorization: 'Bearer ${KEY}' },
            timeout: 600_000,
          },
          stream: { type: 'streamable-http', url: 'https://s.example/mcp' },
          bare: { url: 'http://localhost:9000/mcp', headers: { 'X-Key': '${env:KEY}' } },
          off: { command: 'x', disabled: true },
          off2: { command: 'x', enabled: false },
        },
      },
      { KEY: 'k1' },
    )
    expect(config.servers).toEqual([
      {
        name: 'files',
        type: 'stdio',
        command: 'npx',
        args: ['-y', 'server-filesystem', './docs'],
        env: { LEVEL: 'quiet', N: '3' },
        cwd: '/srv',
        tools: {},
        brands: ['default'],
        allowPrivate: false,
        newTools: 'closed',
        elicitationHosts: [],
      },
      {
        name: 'search',
        type: 'http',
        url: 'https://mcp.example/mcp?k=k1',
        headers: { Authorization: 'Bearer k1' },
        timeoutMs: 600_000,
        tools: {},
        brands: ['default'],
        allowPrivate: false,
        newTools: 'closed',
        elicitationHosts: [],
      },
      expect.objectContaining({ name: 'stream', type: 'http', url: 'https://s.example/mcp' }),
      expect.objectContaining({ name: 'bare', type: 'http', headers: { 'X-Key': 'k1' }, allowPrivate: true }),
    ])
    expect(config.notices).toEqual([
      'mcp.json:34: mcpServers.off: is disabled, so it is not started.',
      'mcp.json:38: mcpServers.off2: is disabled, so it is not started.',
    ])
  })

  it('tools, brands and hosts are read from YAML', () => {
    const config = world.load(`
mcpServers:
  up:
    type: http
    url: https://up.example/mcp
    tools: { "read_*": read, write_file: { access: write, ask: true }, find: { access: spend, grantable: true, cost: { unit: credits, amount: 0.10, actual: usage.credits } }, crawl: { access: spend, cost: { unit: credits, argument: limit } } }
    brands: [acme, other]
    elicitationHosts: [login.example, "*.up.example"]
  everyone: { command: x, brands: "*" }
  listed: { command: x, brands: ["*", acme] }
`)
    expect(config.servers[0]).toMatchObject({
      tools: {
        'read_*': { access: 'read' },
        write_file: { access: 'write', ask: true },
        find: { access: 'spend', grantable: true, cost: { unit: 'credits', amount: '0.1', actual: 'usage.credits' } },
        crawl: { access: 'spend', cost: { unit: 'credits', argument: 'limit' } },
      },
      brands: ['acme', 'other'],
      elicitationHosts: ['login.example', '*.up.example'],
    })
    expect(config.servers.slice(1).map(({ brands }) => brands)).toEqual(['*', '*'])
  })

  it('tools that come later are closed until somebody accepts them, unless the operator says otherwise', () => {
    expect(world.load({ mcpServers: { up: { ...WEB, newTools: 'open' } } }).servers[0]?.newTools).toBe('open')
    expect(world.load({ mcpServers: { up: WEB } }).servers[0]?.newTools).toBe('closed')
    expect(() => world.load({ mcpServers: { up: { ...WEB, newTools: 'opened' } } })).toThrow(
      /newTools.*"closed".*"open"/,
    )
  })

  it('an entry without brands serves the owner’s', () => {
    expect(world.load(servers(WEB), { TOLLGATE_OWNER_BRAND: 'acme' }).servers[0]!.brands).toEqual(['acme'])
  })

  it('a variable’s own text is not expanded again', () => {
    const config = world.load(servers({ command: 'x', args: ['${A}', '$A', '${A}-${A}', '${B:-}', '${x.y}'] }), {
      A: '${HOME}',
    })
    expect(config.servers[0]).toMatchObject({ args: ['${HOME}', '$A', '${HOME}-${HOME}', '', '${x.y}'] })
  })

  it.each([
    [
      'autoApprove',
      { ...WEB, autoApprove: ['x'] },
      'mcp.json:6: mcpServers.up.autoApprove: means nothing here and is ignored.',
    ],
    ['oauth', { ...WEB, oauth: {} }, 'mcpServers.up.oauth: means nothing here and is ignored.'],
    [
      'a slip of our own',
      { ...WEB, tool: {} },
      'mcpServers.up.tool: means nothing here and is ignored; did you mean "tools"?',
    ],
    ['seconds', { ...WEB, timeout: 60 }, 'is read as milliseconds, so calls end after 60 ms; for seconds write 60000.'],
  ])('%s is told and does not stop it', (_what, entry, expected) => {
    expect(world.load(servers(entry)).notices.join('\n')).toContain(expected)
  })

  it.each<[string, object, string]>([
    [
      'sse',
      { type: 'sse', url: 'https://x.example' },
      'mcpServers.up: type "sse" is the transport that streamable HTTP replaced',
    ],
    ['an unknown type', { type: 'ws', url: 'wss://x.example' }, 'write "stdio" or "http"'],
    ['nothing to reach', {}, 'add "command" (and "args"), or "url"'],
    ['stdio without a command', { type: 'stdio' }, 'add the command to run'],
    ['httpUrl', { httpUrl: 'https://x.example' }, 'here it is called "url"'],
    ['args that are a text', { command: 'x', args: '-y' }, 'mcpServers.up.args: expected array'],
    [
      'an unset variable',
      { command: 'x', env: { K: '${NO_SUCH}' } },
      'mcp.json:6: mcpServers.up.env.K: needs NO_SUCH, which is unset or empty: set it, or write ${NO_SUCH:-default}.',
    ],
    ['an empty variable', { ...WEB, headers: { A: '${EMPTY}' } }, 'needs EMPTY, which is unset or empty'],
    ['an unset variable in a url', { url: 'https://${NO_SUCH}/mcp' }, 'mcpServers.up.url: needs NO_SUCH'],
    ['an editor’s input', { ...WEB, headers: { A: '${input:key}' } }, 'asks for input as an editor does'],
    ['the gateway’s own secret', { ...WEB, headers: { A: '${TOLLGATE_SECRET}' } }, 'never leaves it'],
    ['a url that is none', { url: '${SECRET}' }, 'mcpServers.up.url: is not a URL'],
    ['another scheme', { url: 'file:///etc/${SECRET}' }, 'must begin with https://'],
    ['credentials in a url', { url: 'https://u:${SECRET}@x.example' }, 'carries credentials; put them into a header'],
    ['plain http outside', { url: 'http://x.example/${SECRET}' }, 'is http:// outside this machine'],
    [
      'a line break in a header',
      { ...WEB, headers: { A: '${BROKEN}' } },
      'mcpServers.up.headers.A: holds a character that a header cannot carry',
    ],
    ['a header name that is none', { ...WEB, headers: { 'A hunter2': 'x' } }, 'is not the name of a header'],
    [
      'a header of the transport',
      { ...WEB, headers: { Host: 'x' } },
      'mcpServers.up.headers.Host: is written by the gateway itself',
    ],
    [
      'a private address',
      { url: 'https://10.0.0.5/mcp' },
      'points at a private address; if that is meant, add "allowPrivate: true"',
    ],
    ['a private address in decimal', { url: 'https://167772165/mcp' }, 'points at a private address'],
    ['a mapped private address', { url: 'https://[::ffff:10.0.0.5]/mcp' }, 'points at a private address'],
    ['a metadata address', { url: 'https://169.254.169.254/' }, 'points at a private address'],
    [
      'an access that is none',
      { ...WEB, tools: { x: 'reed' } },
      'mcpServers.up.tools.x.access: an access is read, write or spend.',
    ],
    [
      'a grantable write',
      { ...WEB, tools: { x: { access: 'write', grantable: true } } },
      'mcpServers.up.tools.x.grantable: a write is never grantable',
    ],
    [
      'a cost of a read',
      { ...WEB, tools: { x: { access: 'read', cost: { unit: 'c', amount: 1 } } } },
      'only a tool with access "spend" has a cost',
    ],
    [
      'a cost without an amount',
      { ...WEB, tools: { x: { access: 'spend', cost: { unit: 'c' } } } },
      'state either "amount" or "argument"',
    ],
    [
      'a negative cost',
      { ...WEB, tools: { x: { access: 'spend', cost: { unit: 'c', amount: -1 } } } },
      'an amount is a plain number',
    ],
    [
      'an enormous cost',
      { ...WEB, tools: { x: { access: 'spend', cost: { unit: 'c', amount: 1e21 } } } },
      'an amount is a plain number',
    ],
    [
      'a misspelt rule',
      { ...WEB, tools: { x: { access: 'read', grantible: true } } },
      '"grantible" is not a field here (did you mean "grantable"?)',
    ],
    ['brands for nobody', { ...WEB, brands: [] }, 'mcpServers.up.brands: '],
    ['a timeout of nothing', { ...WEB, timeout: 0 }, 'mcpServers.up.timeout: '],
  ])('%s stops the start', (_what, entry, expected) => {
    const said = world.problems(servers(entry), {
      SECRET: 'hunter2',
      EMPTY: '',
      BROKEN: 'hunter2\r\nX: y',
      TOLLGATE_SECRET: 'hunter2-hunter2-hunter2',
    })
    expect(said.join('\n')).toContain(expected)
    expect(said.join('\n')).not.toContain('hunter2')
  })

  it.each(['My Server', 'a__b', '_a', 'a_', 'a.b', ''])('a server called %j stops the start', (name) => {
    expect(world.problems({ mcpServers: { [name]: WEB } }).join()).toContain('as in "my-server"')
  })

  it.each(['http://localhost:1/mcp', 'http://127.0.0.1:1/mcp', 'http://[::1]:1/mcp', 'http://127.1:1/mcp'])(
    '%s needs no leave',
    (url) => {
      expect(world.load(servers({ url })).servers[0]!.allowPrivate).toBe(true)
    },
  )

  it('a private address may be meant', () => {
    expect(world.load(servers({ url: 'http://10.0.0.5/mcp', allowPrivate: true })).servers[0]!.allowPrivate).toBe(true)
  })
})

describe('the rest of the file', () => {
  const KEY = { kty: 'OKP', crv: 'Ed25519', x: 'abc' }
  const host = (more: object) => ({
    issuers: [
      {
        issuer: 'https://app.example',
        jwksUrl: 'https://app.example/jwks',
        brands: ['acme'],
        roles: ['coworker'],
        ...more,
      },
    ],
  })

  it('is read', () => {
    const config = world.load({
      $schema: 'x',
      issuers: [
        {
          issuer: 'https://app.example',
          jwksUrl: 'https://app.example/jwks.json',
          brands: ['acme'],
          roles: ['coworker'],
        },
        { issuer: 'b', jwks: { keys: [KEY] }, brands: ['acme'], roles: ['specialist'] },
      ],
      connectors: { firecrawl: { baseUrl: 'https://api.firecrawl.dev' }, local: { baseUrl: 'http://127.0.0.1:1' } },
      allowedOrigins: ['https://app.example', 'http://localhost:3000'],
      allowedHosts: ['Gate.example:8787', 'gate.example', '[::1]:80'],
      authorizationServers: ['https://auth.example'],
      limits: { bodyBytes: 2048 },
    })
    expect(config).toMatchObject({
      issuers: [
        {
          issuer: 'https://app.example',
          jwksUrl: 'https://app.example/jwks.json',
          brands: ['acme'],
          roles: ['coworker'],
        },
        { issuer: 'b', jwks: { keys: [KEY] } },
      ],
      connectors: {
        firecrawl: { baseUrl: 'https://api.firecrawl.dev', allowPrivate: false },
        local: { allowPrivate: true },
      },
      allowedOrigins: ['https://app.example', 'http://localhost:3000'],
      allowedHosts: ['gate.example:8787', 'gate.example', '[::1]:80'],
      authorizationServers: ['https://auth.example'],
      limits: { bodyBytes: 2048, listPageSize: 1000 },
    })
  })

  it('an empty file says nothing', () => {
    expect(world.load('').servers).toEqual([])
    expect(world.load('# only a comment\n').servers).toEqual([])
  })

  it.each<[string, string | object, string | RegExp]>([
    [
      'an unknown field',
      'mcpServer: {}\n',
      'tollgate.yaml:1: mcpServer: "mcpServer" is not a field here (did you mean "mcpServers"?); known: $schema, mcpServers,',
    ],
    ['a list instead of an object', '- a\n', 'tollgate.yaml:1: expected object'],
    ['a text instead of an object', 'hunter2\n', 'expected object'],
    [
      'a key that stands twice',
      'mcpServers:\n  a: { command: x }\n  a: { command: hunter2 }\n',
      'tollgate.yaml:3: the same key stands twice',
    ],
    [
      'a quote that is open',
      'mcpServers:\n  a: { command: "hunter2 }\n',
      /tollgate\.yaml:\d: a quote, bracket, comma or colon is missing/,
    ],
    ['a tab', 'mcpServers:\n\ta: { command: hunter2 }\n', 'tollgate.yaml:2: a tab is used to indent'],
    ['an alias of nothing', 'mcpServers: *hunter2\n', 'tollgate.yaml'],
    [
      'an alias bomb',
      `a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [${'*a,'.repeat(20)}]\nc: &c [${'*b,'.repeat(20)}]\nmcpServers: [${'*c,'.repeat(20)}]\n`,
      'an alias (*name) points at nothing or repeats too much',
    ],
    ['an own issuer', host({ issuer: 'http://127.0.0.1:8787/mcp' }), "issuers[0].issuer: is the gateway's own"],
    [
      'an issuer that stands twice',
      { issuers: [...host({}).issuers, ...host({}).issuers] },
      'issuers[1].issuer: is there twice',
    ],
    [
      'a role that is none',
      host({ roles: ['cowerker'] }),
      'issuers[0].roles[0]: is not a role; did you mean "coworker"; known:',
    ],
    ['no roles', host({ roles: [] }), 'issuers[0].roles: '],
    ['no keys', host({ jwksUrl: undefined }), 'issuers[0]: needs either "jwksUrl" or "jwks"'],
    ['both kinds of keys', host({ jwks: { keys: [KEY] } }), 'needs either'],
    [
      'keys over plain http',
      host({ jwksUrl: 'http://app.example/jwks' }),
      'issuers[0].jwksUrl: must begin with https://',
    ],
    [
      'a private key',
      host({ jwksUrl: undefined, jwks: { keys: [{ ...KEY, d: 'hunter2' }] } }),
      'issuers[0].jwks.keys[0]: holds a private or shared key',
    ],
    [
      'a shared key',
      host({ jwksUrl: undefined, jwks: { keys: [{ kty: 'oct', k: 'hunter2' }] } }),
      'holds a private or shared key',
    ],
    ['any origin', { allowedOrigins: ['*'] }, 'allowedOrigins[0]: is not an origin'],
    ['no origin', { allowedOrigins: ['null'] }, 'is not an origin'],
    ['an origin with a path', { allowedOrigins: ['https://app.example/'] }, 'is not an origin'],
    ['a host with a scheme', { allowedHosts: ['https://gate.example'] }, 'allowedHosts[0]: is not a host'],
    ['a host with a path', { allowedHosts: ['gate.example/x'] }, 'is not a host'],
    [
      'an authorization server in the clear',
      { authorizationServers: ['http://auth.example'] },
      'authorizationServers[0]: must begin with https://',
    ],
    [
      'a connector inside',
      { connectors: { x: { baseUrl: 'https://10.0.0.1' } } },
      'connectors.x.baseUrl: points at a private address',
    ],
    ['a body limit of nothing', { limits: { bodyBytes: 0 } }, 'limits.bodyBytes: '],
    ['a page of everything', { limits: { listPageSize: 1e9 } }, 'limits.listPageSize: '],
  ])('%s stops the start', (_what, file, expected) => {
    const said = world.problems(file).join('\n')
    if (typeof expected === 'string') expect(said).toContain(expected)
    else expect(said).toMatch(expected)
    expect(said.replaceAll('mcpServers: *hunter2', '')).not.toContain('hunter2')
  })
})
