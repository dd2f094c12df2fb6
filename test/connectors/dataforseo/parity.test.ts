import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { dataforseo } from '../../../connectors/dataforseo.ts'
import { dataforseoContract, official } from '../contracts/dataforseo.ts'
import { CLIENT } from '../contracts/sdk-types.ts'
import type { Sent } from '../suite.ts'
import { type Standin, startStandin } from '../standin.ts'
import { type Bench, bench } from '../world.ts'
import { nothing, USER_DATA, userData } from './answers.ts'
import { tools } from './cases.ts'

/**
 * The official client, pointed at the same stand-in: given the task that the connector sends, it must send the same. Its
 * files are taken one by one, since the whole of it is 75 MB.
 */
const require = createRequire(import.meta.url)
const load = (folder: string, name: string) => require(join(CLIENT, folder, `${name}.js`))[name]

const fields = { login: 'someone@shop.example', password: 'a-password' }
const authorization = `Basic ${Buffer.from(`${fields.login}:${fields.password}`).toString('base64')}`
const signed = {
  fetch: (url: string, init: RequestInit) => fetch(url, { ...init, headers: { ...init.headers, authorization } }),
}

let standin: Standin
let made: Bench
beforeAll(async () => {
  standin = await startStandin(dataforseoContract, {
    auth: (headers) => (headers.authorization === authorization ? undefined : 'another login'),
  })
  made = bench(dataforseo, standin.url, fields)
})
afterAll(async () => {
  await made.close()
  await standin.close()
})

afterEach(() => standin.reset())

/** The one request since the last look. The client writes null for a list that nobody gave. */
const wire = (besides: readonly string[] = []) => {
  const [one, ...more] = standin.seen
  expect(more).toEqual([])
  standin.seen.length = 0
  const body = (one?.body as object[] | undefined)?.map((task) =>
    Object.fromEntries(Object.entries(task).filter(([name, value]) => value !== null && !besides.includes(name))),
  )
  return { method: one?.method, target: one?.target, body, type: one?.headers['content-type'] }
}

describe('what is sent is what the official client sends', () => {
  const cases = Object.entries(tools).flatMap(([tool, { works }]) =>
    works.map(({ args, sends }, i) => ({ tool, args, sent: sends[0] as Sent, name: `${tool}, case ${i + 1}` })),
  )

  it.each(cases)('$name', async ({ tool, args, sent }) => {
    const at = official.find(({ path }) => path === sent.path)
    standin.on(`${sent.method} ${sent.path}`, sent.method === 'GET' ? userData() : nothing(0))
    await made.call(tool, args)
    expect(standin.violations).toEqual([])
    const ours = wire(at?.besides)
    if (at === undefined) await new (load('api', 'AppendixApi'))(standin.url, signed).userData()
    else {
      // Of a task the client keeps what its types name, and adds what they always hold.
      const task = load('models', at.task).fromJS(ours.body?.[0])
      await new (load('api', at.api))(standin.url, signed)[at.method]([task])
    }
    expect(ours).toEqual(wire())
  })

  it('covers every operation of the contract', () => {
    const sent = new Set(cases.map(({ sent: { method, path } }) => `${method} ${path}`))
    expect([...sent].sort()).toEqual(dataforseoContract.map(({ method, path }) => `${method} ${path}`).sort())
    expect(sent).toContain(USER_DATA)
  })
})
