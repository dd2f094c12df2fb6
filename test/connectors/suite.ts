/**
 * The tests every connector owes, from a table of cases: each tool works, each documented error is told, bad arguments
 * and refusals send nothing, and no credential comes back.
 * @module
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { DeclaredConnector } from '../../src/connector/define.ts'
import { isSecret, type Values } from '../../src/connector/native/values.ts'
import type { Code } from '../../src/policy/words.ts'
import type { Switches } from '../../src/policy/switches.ts'
import type { Contract } from './contract.ts'
import { startConnectorGateway } from './gateway.ts'
import { type Answer, type Seen, type Standin, type StandinOptions, startStandin } from './standin.ts'
import { type Bench, bench, resultOf } from './world.ts'

type Scripted = Answer | ((seen: Seen) => Answer)
/** Answers by operation (`POST /scrape`); of a list one after another. */
export type Script = Readonly<Record<string, Scripted | readonly Scripted[]>>

export interface Sent {
  readonly method: string
  /** Decoded, below the base URL. */
  readonly path: string
  readonly query?: object
  readonly body?: unknown
}

/** A call that works. */
export interface Works {
  /** What it shows, as the end of a sentence; 'it works' unless said. */
  readonly name?: string
  readonly args: object
  readonly answers: Script
  /** Exactly these requests, in order. `query` and `body` are compared whole where they are said. */
  readonly sends: readonly Sent[]
  /** What the result holds, at least. */
  readonly result: object
  /** Decimals, of a tool that bills. */
  readonly cost?: { readonly estimate: string; readonly actual: string | undefined }
  readonly summary?: string
  /** Whether the first request may have an effect; unless said, a POST of a tool that is no `read`. */
  readonly effect?: boolean
  /** How often the first request is sent where no answer comes: once unless said. */
  readonly tries?: number
}

/** A documented error of the vendor. */
export interface Fails {
  readonly args?: object
  readonly answers: Script
  readonly code: Code
  readonly says: RegExp
  /** `no` unless said. */
  readonly ran?: 'no' | 'maybe'
  /** Facts for the model, at least. */
  readonly facts?: object
}

export interface ToolCases {
  /** The first is what the general tests are made of. */
  readonly works: readonly [Works, ...Works[]]
  readonly fails?: Readonly<Record<string, Fails>>
  /** Arguments that are wrong, and the sentence. */
  readonly bad?: Readonly<Record<string, { readonly args: unknown; readonly says: RegExp }>>
  /** Arguments refused whatever a person says. */
  readonly forbidden?: Readonly<Record<string, { readonly args: object; readonly says: RegExp }>>
  /** Of a tool that asks for mutations. */
  readonly mutates?: readonly (readonly [args: object, mutates: boolean])[]
}

export interface Suite extends StandinOptions {
  readonly connector: DeclaredConnector
  readonly contract: Contract
  /** Credentials with a value nobody else has; the suite looks for every secret one everywhere. */
  readonly fields: Values
  readonly switches?: Partial<Switches>
  /** Answers of what is read for the account's prices, where the connector reads them. */
  readonly prices?: Script
  /** Answers of the harmless call, and what it says then. */
  readonly check: { readonly answers: Script; readonly says: RegExp }
  /** Not in the catalogue, so no gateway has it. */
  readonly apart?: true
  /** By own name. Every tool with a body has its cases. */
  readonly tools: Readonly<Record<string, ToolCases>>
}

/** Runs the tests; call it at the top of a test file. Returns a way to the bench and the stand-in for tests of one's own. */
export function testConnector(suite: Suite): { bench: () => Bench; standin: () => Standin } {
  const { connector, tools } = suite
  let standin: Standin
  let made: Bench
  /** As `made`, with next to no patience. */
  let hasty: Bench
  beforeAll(async () => {
    standin = await startStandin(suite.contract, suite)
    made = bench(connector, standin.url, suite.fields, { switches: suite.switches ?? {} })
    hasty = bench(connector, standin.url, suite.fields, { switches: suite.switches ?? {}, patience: 0.01 })
    script(suite.prices ?? {})
    await made.prepare()
    standin.reset()
  })
  afterAll(async () => {
    await made.close()
    await hasty.close()
    await standin.close()
  })
  afterEach(() => {
    const { violations } = standin
    const wrong = [...violations]
    standin.reset()
    made.waits.length = 0
    expect(wrong, 'what the contract does not allow').toEqual([])
  })
  const secrets = Object.entries(suite.fields).flatMap(([name, value]) =>
    isSecret(connector.connection?.fields[name]) ? [value] : [],
  )
  const isClean = (value: unknown) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    for (const secret of secrets) {
      for (const form of [
        secret,
        encodeURIComponent(secret),
        Buffer.from(secret).toString('base64').replace(/=+$/, ''),
      ])
        expect(text.includes(form), 'a credential came back').toBe(false)
    }
  }
  const script = (answers: Script) => {
    for (const [operation, list] of Object.entries(answers)) {
      standin.on(operation, ...(Array.isArray(list) ? (list as Scripted[]) : [list as Scripted]))
    }
  }
  const everything = (answers: Script, answer: Answer) => {
    for (const operation of Object.keys(answers)) standin.on(operation, answer)
  }

  describe(`${connector.slug}: the connector`, () => {
    it('has cases for every tool with a body', () => {
      const bodies = connector.tools.filter(({ body }) => body !== undefined).map(({ ownName }) => ownName)
      expect(Object.keys(tools).sort()).toEqual([...bodies].sort())
    })

    it('checks a connection by a harmless call', async () => {
      script(suite.check.answers)
      const said = await made.vendor.check(made.opened)
      expect(said).toMatch(suite.check.says)
      isClean(said)
    })

    it('says nothing of its credentials in its definitions', () => {
      for (const tool of made.connector.tools()) isClean(JSON.stringify(tool))
    })
  })

  /** What a failure nobody explains means for the first case of a tool. */
  const unsureOf = (ownName: string) => {
    const first = tools[ownName]?.works[0]
    const declared = connector.tools.find((one) => one.ownName === ownName)
    const effect = first?.effect ?? (first?.sends[0]?.method !== 'GET' && declared?.access !== 'read')
    return effect ? { code: 'outcome_unknown', ran: 'maybe' } : { ran: 'no' }
  }

  // All tools at once: most of the time is waiting.
  describe(`${connector.slug}: every tool survives a vendor that misbehaves`, () => {
    it.each(['reset', 'hang', 'drip', 'huge'] as const)('%s', async (fault) => {
      for (const { works } of Object.values(tools)) everything(works[0].answers, { fault })
      const { call } = fault === 'reset' || fault === 'huge' ? made : hasty
      const answers = Object.entries(tools).map(async ([ownName, { works }]) => {
        const answer = await call(ownName, works[0].args)
        expect(answer, ownName).toMatchObject({ kind: 'failed', ...unsureOf(ownName) })
        isClean(answer)
      })
      await Promise.all(answers)
      const tries = Object.values(tools).reduce((sum, { works }) => sum + (works[0].tries ?? 1), 0)
      // Of a vendor that is slow, the call's own time may be up before it is asked again.
      expect(standin.seen.length).toBeGreaterThanOrEqual(call === made.call ? tries : answers.length)
      expect(standin.seen.length).toBeLessThanOrEqual(tries)
    })
  })

  for (const [ownName, cases] of Object.entries(tools)) {
    describe(ownName, () => {
      const [first] = cases.works
      const unsure = unsureOf(ownName)

      for (const works of cases.works) {
        it(works.name ?? 'works', async () => {
          script(works.answers)
          const argumentsText = JSON.stringify(works.args)
          const tool = made.tool(ownName)
          expect(tool.judge?.(argumentsText)?.refused).toBeUndefined()
          const answer = await made.call(ownName, works.args)
          expect(resultOf(answer)).toMatchObject(works.result)
          expect(answer.kind).toBe('result')
          expect(standin.seen.map(({ method, path }) => ({ method, path }))).toEqual(
            works.sends.map(({ method, path }) => ({ method, path })),
          )
          works.sends.forEach(({ query, body }, i) => {
            if (query !== undefined) expect(standin.seen[i]?.query).toEqual(query)
            if (body !== undefined) expect(standin.seen[i]?.body).toEqual(body)
          })
          if (works.cost !== undefined && answer.kind === 'result') {
            expect(tool.meter?.estimate(argumentsText)?.amount).toBe(works.cost.estimate)
            expect(tool.meter?.actual(answer.members)?.amount).toBe(works.cost.actual)
            expect(Number(works.cost.actual ?? 0)).toBeLessThanOrEqual(Number(works.cost.estimate))
          }
          if (works.summary !== undefined) expect(tool.summary?.(argumentsText)).toBe(works.summary)
          isClean(answer)
        })
      }

      for (const [name, fails] of Object.entries(cases.fails ?? {})) {
        it(`tells: ${name}`, async () => {
          script(fails.answers)
          const answer = await made.call(ownName, fails.args ?? first.args)
          expect(answer).toMatchObject({ kind: 'failed', code: fails.code, ran: fails.ran ?? 'no' })
          if (answer.kind !== 'failed') return
          expect(answer.reason).toMatch(fails.says)
          if (fails.facts !== undefined) expect(answer.facts).toMatchObject(fails.facts)
          isClean(answer)
        })
      }

      const sendsNothing = async (args: unknown, code: Code, says: RegExp) => {
        const argumentsText = typeof args === 'string' ? args : JSON.stringify(args)
        const { refused } = made.tool(ownName).judge?.(argumentsText) ?? {}
        expect(refused).toMatchObject({ code, because: expect.stringMatching(says) })
        const answer = await made.call(ownName, args)
        expect(answer).toMatchObject({ kind: 'failed', code, ran: 'no', reason: refused?.because })
        expect(standin.seen).toEqual([])
      }
      it('takes no argument it does not know', () =>
        sendsNothing({ ...first.args, surprise: 1 }, 'invalid_arguments', /"surprise" is not an argument/))
      for (const [name, { args, says }] of Object.entries(cases.bad ?? {})) {
        it(`sends nothing for bad arguments: ${name}`, () => sendsNothing(args, 'invalid_arguments', says))
      }
      for (const [name, { args, says }] of Object.entries(cases.forbidden ?? {})) {
        it(`sends nothing for what is forbidden: ${name}`, () => sendsNothing(args, 'forbidden_arguments', says))
      }
      for (const [args, mutates] of cases.mutates ?? []) {
        it(`${JSON.stringify(args).slice(0, 80)} ${mutates ? 'changes' : 'changes nothing'}`, () => {
          expect(made.tool(ownName).judge?.(JSON.stringify(args))).toEqual({ mutates })
        })
      }

      it('turns a rate limit into rate_limited with the wait, and sends nothing more', async () => {
        everything(first.answers, { status: 429, text: '{"message":"slow down"}', headers: { 'retry-after': '31' } })
        const answer = await made.call(ownName, first.args)
        expect(answer).toMatchObject({ kind: 'failed', code: 'rate_limited', ran: 'no', facts: { retry_after_s: 31 } })
        expect(answer).toMatchObject({ reason: expect.stringContaining('Wait 31 s') })
        expect(standin.seen).toHaveLength(1)
      })

      it('is not led elsewhere by a redirect', async () => {
        let elsewhere = 0
        const other = createServer((_req, res) => {
          elsewhere++
          res.end('{}')
        })
        await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
        const location = `http://127.0.0.1:${(other.address() as AddressInfo).port}/`
        everything(first.answers, { status: 307, text: '', headers: { location } })
        const answer = await made.call(ownName, first.args)
        other.close()
        expect(answer).toMatchObject({ kind: 'failed', ...unsure })
        expect(elsewhere).toBe(0)
        expect(standin.seen).toHaveLength(1)
      })

      it('never gives a credential back, in whatever form the vendor echoes it', async () => {
        const echo = secrets.flatMap((one) => [one, encodeURIComponent(one), Buffer.from(`x${one}`).toString('base64')])
        everything(first.answers, {
          status: 400,
          text: JSON.stringify({ message: echo.join(' '), error: echo.join(' ') }),
        })
        isClean(await made.call(ownName, first.args))
      })
    })
  }

  describe.skipIf(suite.apart === true)(`${connector.slug}: through the gateway`, () => {
    it('each tool works, and no credential is in a result, card, record, list, metric or line of the log', async () => {
      const gateway = await startConnectorGateway(connector.slug, standin.url)
      try {
        const put = await gateway.api('PUT', `/v1/connections/${connector.slug}`, { fields: suite.fields })
        expect([put.status, put.text]).toEqual([201, expect.any(String)])
        script(suite.check.answers)
        const checked = await gateway.api('POST', `/v1/connections/${connector.slug}/check`)
        expect(checked.body).toMatchObject({ ok: true, said: expect.stringMatching(suite.check.says) })
        const token = await gateway.token('default')
        const told = [put.text, checked.text, await gateway.list(token)]
        for (const [ownName, cases] of Object.entries(tools)) {
          const [first] = cases.works
          script({ ...suite.prices, ...first.answers })
          const { text, result, cards } = await gateway.call(token, `${connector.slug}__${ownName}`, first.args)
          expect(result.structuredContent, `${ownName}: ${text}`).toMatchObject(first.result)
          if (first.summary !== undefined && cards.length > 0) expect(cards[0].summary).toBe(first.summary)
          told.push(text, JSON.stringify(cards))
        }
        for (const path of ['/v1/audit?limit=200', '/v1/approvals', '/v1/connections', '/v1/connectors', '/metrics'])
          told.push((await gateway.api('GET', path)).text)
        for (const one of [...told, ...gateway.logged]) isClean(one)
      } finally {
        await gateway.close()
      }
    })
  })
  return { bench: () => made, standin: () => standin }
}
