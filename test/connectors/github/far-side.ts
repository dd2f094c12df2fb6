/**
 * A far side that counts: for what GitHub's writes refuse. Nothing that writes is sent.
 * @module
 */
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { github } from '../../../connectors/github.ts'
import { githubContract } from '../contracts/github.ts'
import { type Standin, startStandin } from '../standin.ts'
import type { Script } from '../suite.ts'
import { type Bench, bench } from '../world.ts'
import { FIELDS } from './answers.ts'

export let standin: Standin
export let made: Bench
beforeAll(async () => {
  standin = await startStandin(githubContract, { auth: () => undefined })
  made = bench(github, standin.url, FIELDS)
})
afterAll(async () => {
  await made.close()
  await standin.close()
})
afterEach(() => {
  const wrong = [...standin.violations]
  standin.reset()
  expect(wrong).toEqual([])
})

/** What the far side says from now on. */
export const answer = (script: Script) => {
  for (const [operation, one] of Object.entries(script)) standin.on(operation, ...([one].flat() as any[]))
}
/** A commit that would be made. */
export const commit = (own: object) => ({
  branch: 'fix',
  message: 'm',
  files: [{ path: 'a.ts', content: 'x' }],
  ...own,
})
/** Refused, by `judge` before anybody is asked and again by the run, and nothing left. */
export async function isRefusedAtOnce(tool: string, args: unknown, code: RegExp) {
  expect(made.tool(tool).judge?.(JSON.stringify(args)).refused?.code).toMatch(code)
  expect(await made.call(tool, args)).toMatchObject({ kind: 'failed', code: expect.stringMatching(code), ran: 'no' })
  expect(standin.seen).toEqual([])
}

/** Refused by the run, after reads alone. */
export async function isRefusedAfterReading(tool: string, args: unknown, code: string, says: RegExp) {
  expect(await made.call(tool, args)).toMatchObject({
    ...{ kind: 'failed', code, ran: 'no' },
    reason: expect.stringMatching(says),
  })
  // Objects that nothing points at change nothing; whatever else is no GET does.
  const harmless = /^POST \/repos\/acme\/shop\/git\/(?:blobs|trees|commits)$/
  const sent = standin.seen.map(({ method, path }) => `${method} ${path}`)
  expect(sent.filter((one) => !one.startsWith('GET ') && !harmless.test(one))).toEqual([])
}
