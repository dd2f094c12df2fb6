/** Ready configuration: what a host app pastes to start an agent that holds exactly its session's tools. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { configsFor } from '../../src/http/api/configs.ts'
import { createWorld, RESOURCE, type World } from './api-world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world.close())

const URL = 'https://gateway.example/mcp'

describe('the configuration of a harness', () => {
  it('lists built-ins and the gateway’s tools, and nothing else', async () => {
    const request = { role: 'specialist', tools: ['Read', 'files/read_file'], grant: { connectors: ['files'] } }
    const { configs, token } = await world.issue(request)
    expect(configs.agentSdk).toEqual({
      mcpServers: {
        gateway: {
          type: 'http',
          url: RESOURCE,
          headers: { Authorization: `Bearer \${GATEWAY_TOKEN}` },
          timeout: 600_000,
        },
      },
      tools: ['Read', 'mcp__gateway__files__read_file'],
      strictMcpConfig: true,
      settingSources: [],
    })
    expect(configs.claudeCode.run).toBe('claude --mcp-config=gateway.mcp.json --strict-mcp-config --tools=Read')
    expect(JSON.stringify(configs)).not.toContain(token)
  })

  it('of a session that holds nothing offers no tool', async () => {
    const { configs, tools, builtins } = await world.issue({ role: 'goal-reviewer' })
    expect([tools, builtins, configs.agentSdk.tools]).toEqual([[], [], []])
    // Left out, the flag would mean every built-in.
    expect(configs.claudeCode.run).toMatch(/ --tools=$/)
  })

  it('never names allowedTools, which would run past the harness’s own callback', async () => {
    for (const role of ['person-chat', 'inbound-email', 'goal-agent', 'goal-reviewer']) {
      const { configs } = await world.issue({ role, brand: 'acme' })
      expect(JSON.stringify(configs)).not.toMatch(/allowed-?_?tools/i)
    }
  })

  it('offers nothing when nobody says what the session holds', () => {
    expect(configsFor(URL).agentSdk.tools).toEqual([])
    expect(configsFor(URL).claudeCode.run).toMatch(/ --tools=$/)
  })

  it('quotes what a shell would take apart', () => {
    const { command, run } = configsFor(`${URL}?a=1&b='x'`, { builtins: ['Bash', '$(x)'], tools: [] }).claudeCode
    expect(command).toContain(`gateway 'https://gateway.example/mcp?a=1&b='\\''x'\\'''`)
    expect(run).toMatch(/ --tools=Bash,'\$\(x\)'$/)
  })

  it('stands in the README as the gateway hands it out', () => {
    const readme = readFileSync(join(import.meta.dirname, '..', '..', 'README.md'), 'utf8')
    const blocks = [...readme.matchAll(/```json\n([\s\S]*?)```/g)].map((match) => JSON.parse(match[1] as string))
    const { agentSdk, claudeCode } = configsFor(URL, { builtins: ['Read'], tools: [{ listedAs: 'files__read_file' }] })
    expect(blocks).toContainEqual(agentSdk)
    expect(readme).toContain(claudeCode.run)
  })
})

describe('a session by an agent definition', () => {
  const reported = (issued: any) => issued.withheld.map(({ tool }: { tool: string }) => tool)

  it('holds what the definition names and nothing more, and reports names that match nothing', async () => {
    const definition = {
      id: 'web-researcher',
      model: 'a-model',
      instructions: 'Search well.',
      toolNames: ['Read', 'search/find', 'files/nothing', 'brave/search', 'read_files'],
      mcpServers: { search: { command: 'npx', args: ['a-server'] }, files: {}, brave: {} },
    }
    const issued = await world.issue({ role: 'person-chat', definition })
    expect(issued.builtins).toEqual(['Read'])
    expect(issued.tools.map(({ name }: { name: string }) => name)).toEqual(['mcp__search__find'])
    expect(reported(issued).sort()).toEqual(['brave/search', 'mcp__files__nothing', 'read_files'])
    expect(issued.configs.agentSdk.tools).toEqual(['Read', 'mcp__gateway__search__find'])
  })

  it.each([[{}], [{ toolNames: [] }], [{ toolNames: null, mcpServers: null }]])(
    'holds nothing for %j, whatever the role and the grant',
    async (definition) => {
      for (const more of [{ role: 'person-chat' }, { role: 'specialist', grant: { connectors: ['files'] } }]) {
        const { tools, builtins, configs } = await world.issue({ ...more, definition })
        expect([tools, builtins, configs.agentSdk.tools]).toEqual([[], [], []])
      }
    },
  )

  it('keeps nothing of the commands and keys in it', async () => {
    const definition = { toolNames: ['search/find'], mcpServers: { search: { env: { KEY: 'a-key-of-the-team' } } } }
    const { id } = await world.issue({ role: 'person-chat', definition })
    const shown = [await world.ask('GET', `/v1/sessions/${id}`), await world.ask('GET', `/v1/audit?sessionId=${id}`)]
    expect(JSON.stringify(shown)).not.toContain('a-key-of-the-team')
  })

  it('cannot widen a role', async () => {
    const definition = { toolNames: ['files/write_file', 'Read'] }
    const issued = await world.issue({ role: 'coworker', definition })
    expect([issued.builtins, issued.tools]).toEqual([['Read'], []])
    expect(reported(issued)).toEqual(['mcp__files__write_file'])
  })

  it('is refused beside tools, and when it is none', async () => {
    const request = { role: 'person-chat', tools: ['Read'], definition: { toolNames: ['Read'] } }
    const both = await world.ask('POST', '/v1/sessions', request)
    expect([both.status, both.body.errors[0].rule]).toEqual([422, 'tools_or_definition'])
    const wrong = await world.ask('POST', '/v1/sessions', { role: 'person-chat', definition: { toolNames: 'Read' } })
    expect([wrong.status, wrong.body.errors[0].path]).toEqual([422, 'definition.toolNames'])
  })
})
