/**
 * One run of a tool's body: arguments judged once more, credentials opened, and whatever comes of it turned into an answer.
 * @module
 */
import { randomUUID } from 'node:crypto'
import { AddressRefused } from '../mcp/address.ts'
import { NoToken } from '../mcp/bearer.ts'
import type { Answer, Running, UpstreamCall } from '../connector.ts'
import type { Body, Result } from './body.ts'
import { answerOf, Refusal, VendorFailure } from './failure.ts'
import { readInput } from './input.ts'
import { judge } from './tool.ts'
import type { Values } from './values.ts'
import type { Opened } from './vault.ts'
import type { Vendor } from './vendor.ts'

const DEADLINE_MS = 60_000
const LONGEST_MS = 300_000
const CLEANUP_MS = 10_000

interface RunParts {
  readonly vendor: Vendor
  readonly settings: Values
  readonly open: () => Promise<Opened | undefined>
}

/** Starts a call of a tool with this body; without one nothing leaves. */
export function startRun(call: UpstreamCall, body: Body | undefined, parts: RunParts): Running {
  const control = new AbortController()
  return {
    answer: run(call, body, parts, control.signal),
    cancel: (reason) => control.abort(new Error(reason)),
  }
}

async function run(
  call: UpstreamCall,
  body: Body | undefined,
  { vendor, settings, open }: RunParts,
  cancelled: AbortSignal,
): Promise<Answer> {
  if (body === undefined) return no('unknown_tool', `${call.tool.name} is not there any more.`)
  const { refused } = judge(body, call.tool, call.argumentsText, settings)
  if (refused !== undefined) return no(refused.code, refused.because)
  const read = readInput(body.input, call.argumentsText)
  if (!read.ok) return no('invalid_arguments', read.because)
  const opened = await open().catch(() => undefined)
  if (opened === undefined) return no('upstream_unavailable', `${vendor.title} has no credentials right now.`)
  const late = vendor.deadline(Math.min(body.deadlineMs ?? DEADLINE_MS, LONGEST_MS))
  const signal = AbortSignal.any([cancelled, late])
  let effect = false
  const onEffect = (): void => {
    effect = true
  }
  try {
    const result = await body.run({
      args: read.args,
      settings,
      signal,
      key: call.key ?? randomUUID(),
      http: vendor.way(opened, signal, onEffect),
      download: (url, options) => vendor.download(url, signal, options),
      // Its time begins with its use, which is after the end.
      get cleanup() {
        return vendor.way(opened, vendor.deadline(CLEANUP_MS), onEffect)
      },
      wait: (ms) => vendor.wait(ms, signal),
      progress: (message, done, total) => call.onProgress?.(progressText(message, done, total)),
    })
    return { kind: 'result', members: membersOf(result), metaText: '', isError: false }
  } catch (error) {
    if (error instanceof VendorFailure) return answerOf(error, effect)
    if (error instanceof AddressRefused) return no('upstream_unavailable', error.message)
    if (error instanceof NoToken && !effect) return no('upstream_unavailable', `${vendor.title}: ${error.message}`)
    if (error instanceof Refusal && !effect) return no(error.code, error.message)
    if (effect)
      return { ...no('outcome_unknown', `${vendor.title} did something, and not all of it is known.`), ran: 'maybe' }
    if (late.aborted) return no('upstream_timeout', `${vendor.title} did not finish in time.`)
    if (cancelled.aborted) return no('upstream_unavailable', 'The call was cancelled.')
    return no('internal', `What ${vendor.title} answered is not what this gateway expects.`)
  }
}

const no = (code: Failed['code'], reason: string): Failed => ({ kind: 'failed', code, reason, ran: 'no' })
type Failed = Extract<Answer, { kind: 'failed' }>

/** The answer as the model reads it and as a program does: the same. */
function membersOf(result: Result): string {
  const text = JSON.stringify(result)
  return `"content":[{"type":"text","text":${JSON.stringify(text)}}],"structuredContent":${text},"isError":false`
}

function progressText(message: string, done: number, total: number | undefined): string {
  return JSON.stringify({ progress: done, ...(total !== undefined && { total }), message }).slice(1, -1)
}
