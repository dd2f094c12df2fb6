/**
 * GitHub's writes through a whole gateway: registered, and refusing before any request where the operator's switch is off
 * or nobody can be asked; and nothing leaves before a person has said yes.
 */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { githubContract } from '../contracts/github.ts'
import { type ConnectorGateway, startConnectorGateway } from '../gateway.ts'
import { type Standin, startStandin } from '../standin.ts'
import { FIELDS } from './answers.ts'
import { comment, commit, createBranch, openPull } from './calls.ts'

const WRITES = {
  github__github_create_branch: createBranch.args,
  github__github_commit_files: commit.args,
  github__github_open_pull_request: openPull.args,
  github__github_comment: comment.args,
}
let standin: Standin
let gateway: ConnectorGateway
beforeEach(async () => {
  standin = await startStandin(githubContract, { auth: () => undefined })
})
afterEach(async () => {
  await gateway.close()
  await standin.close()
})

async function start(env: Record<string, string>) {
  gateway = await startConnectorGateway('github', standin.url, env)
  expect((await gateway.api('PUT', '/v1/connections/github', { fields: FIELDS })).status).toBe(201)
}

it('are there and refuse, with nothing sent and nobody asked, where the switch is off', async () => {
  await start({ GITHUB_ALLOW_WRITES: 'false' })
  const token = await gateway.token('default')
  const list = await gateway.list(token)
  for (const [name, args] of Object.entries(WRITES)) {
    expect(list).toContain(`"${name}"`)
    const { text, result, cards } = await gateway.call(token, name, args)
    expect(result.isError, text).toBe(true)
    expect(text).toMatch(/switched_off.*GITHUB_ALLOW_WRITES|GITHUB_ALLOW_WRITES.*switched_off/s)
    expect(cards).toEqual([])
  }
  expect(standin.seen).toEqual([])
})

it('refuse, with nothing sent, in a session that can ask nobody', async () => {
  await start({})
  const session = { brand: 'default', role: 'person-chat', approval: { channel: 'none' } }
  const { body } = await gateway.api('POST', '/v1/sessions', session)
  for (const [name, args] of Object.entries(WRITES)) {
    const { text, result, cards } = await gateway.call(body.token, name, args)
    expect(result.isError, text).toBe(true)
    expect(text).toContain('approval_required')
    expect(cards).toEqual([])
  }
  expect(standin.seen).toEqual([])
})

it('are refused by what they say before a person is asked', async () => {
  await start({})
  const token = await gateway.token('default')
  const files = [{ path: '.GitHub/Workflows/deploy.yml', content: 'on: push' }]
  const { text, cards } = await gateway.call(token, 'github__github_commit_files', { ...commit.args, files })
  expect(text).toContain('forbidden_arguments')
  expect(cards).toEqual([])
  expect(standin.seen).toEqual([])
})
