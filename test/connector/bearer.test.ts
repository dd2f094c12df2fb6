/** An upstream whose requests carry an access token: the first, another when it is refused, and none. */
import { expect, test } from 'vitest'
import { type Bearer, NoToken } from '../../src/connector/mcp/bearer.ts'
import { call, connector, entryOf, textOf, until, upstream } from '../support/connectors.ts'

/** Hands out these tokens in turn; the last one stays. Undefined: there is none. */
function bearer(...tokens: (string | undefined)[]) {
  const refused: string[] = []
  let at = 0
  const handed: Bearer = {
    recent: () => tokens.filter((one) => one !== undefined),
    async token(one) {
      if (one !== undefined) {
        refused.push(one)
        at = Math.min(at + 1, tokens.length - 1)
      }
      const token = tokens[at]
      if (token === undefined) throw new NoToken('A person has to consent.')
      return token
    },
  }
  return { handed, refused }
}
/** An upstream that takes only this token. */
async function guarded(good: string) {
  const up = await upstream({
    intercept(seen, response) {
      if (seen.headers.authorization === `Bearer ${good}`) return false
      response.writeHead(401, { 'content-type': 'text/plain' }).end(`not ${seen.headers.authorization}`)
      return true
    },
  })
  return up
}

test('each request carries the token, and none of the configured headers is lost', async () => {
  const up = await guarded('good-token')
  const { handed, refused } = bearer('good-token')
  const made = connector(entryOf(up.url, { bearer: handed, headers: { 'x-tenant': 'acme' } })).connector
  await until(() => made.state().state === 'ready')
  expect(textOf(await call(made, 'echo', { a: 1 }))).toBe('{"a":1}')
  expect(up.requests.every(({ headers }) => headers['x-tenant'] === 'acme')).toBe(true)
  expect(refused).toEqual([])
})

test('a token that is refused is renewed once, and the call runs once', async () => {
  const up = await guarded('second-token')
  const { handed, refused } = bearer('first-token', 'second-token')
  const made = connector(entryOf(up.url, { bearer: handed })).connector
  await until(() => made.state().state === 'ready')
  expect(refused).toEqual(['first-token'])
  await call(made, 'increment')
  expect(up.ledger).toHaveLength(1)
})

test('a renewed token that is refused too is told as the refusal it is, without the token', async () => {
  const up = await guarded('nobody-has-it')
  const { handed, refused } = bearer('first-token', 'second-token')
  const { connector: made, heard } = connector(entryOf(up.url, { bearer: handed }))
  await until(() => made.state().state === 'failed')
  expect(made.state().detail).toBe('It answered HTTP 401: not Bearer [redacted]')
  expect(refused).toEqual(['first-token'])
  expect(heard.lines.join()).not.toMatch(/first-token|second-token/)
})

test('without a token nothing leaves, and the reason is said', async () => {
  const up = await guarded('x')
  const made = connector(entryOf(up.url, { bearer: bearer(undefined).handed })).connector
  await until(() => made.state().state === 'failed')
  expect(made.state().detail).toBe('A person has to consent.')
  expect(up.requests).toEqual([])
})

test.each([['bad\r\nx-injected: 1'], ['bad\u0000'], ['']])(
  'a token that no header can carry (%j) breaks nothing',
  async (bad) => {
    const up = await guarded('x')
    for (const tokens of [[bad], ['first-token', bad]]) {
      const made = connector(entryOf(up.url, { bearer: bearer(...tokens).handed })).connector
      await until(() => made.state().state === 'failed')
    }
    expect(JSON.stringify(up.requests)).not.toContain('x-injected')
  },
)
