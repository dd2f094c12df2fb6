/**
 * Real MCP clients behind one small interface, so that one suite holds for all of them.
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as v2 from '@modelcontextprotocol/client'
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as V1Transport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'

/** What the person at the client's end says to a form. */
export type Answer = (params: { message: string }) => {
  action: 'accept' | 'decline' | 'cancel'
  content?: Record<string, string>
}

export interface ConnectOptions {
  /** Called with the names of the list that was read again after a notice. */
  readonly onList?: (names: string[]) => void
  /** Makes the client declare elicitation. */
  readonly onAsk?: Answer
}

export interface CallOptions {
  readonly onProgress?: (progress: { progress: number; message?: string | undefined }) => void
  readonly signal?: AbortSignal
}

/** A connected client. `call` rejects for a JSON-RPC error. */
export interface TestClient {
  list(): Promise<any[]>
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<any>
  /** Absent where the era has no ping. */
  readonly ping?: () => Promise<unknown>
  readonly instructions: () => string | undefined
  close(): Promise<void>
}

export interface Kind {
  readonly name: string
  readonly era: 'legacy' | 'modern'
  connect(url: string, token: string, options?: ConnectOptions): Promise<TestClient>
}

const INFO = { name: 'tollgate-test', version: '1' }
const headersOf = (token: string) => ({ requestInit: { headers: { Authorization: `Bearer ${token}` } } })
const namesOf = (tools: ReadonlyArray<{ name: string }> | null) => (tools ?? []).map(({ name }) => name)

const watching = ({ onList }: ConnectOptions) =>
  onList === undefined
    ? {}
    : {
        listChanged: {
          tools: {
            debounceMs: 0,
            onChanged: (_problem: Error | null, tools: ReadonlyArray<{ name: string }> | null) =>
              onList(namesOf(tools)),
          },
        },
      }

/** The 1.x SDK's client. */
export const sdkV1: Kind = {
  name: 'MCP SDK 1.x',
  era: 'legacy',
  async connect(url, token, options = {}) {
    const { onAsk } = options
    const client = new V1Client(INFO, {
      capabilities: onAsk === undefined ? {} : { elicitation: {} },
      ...watching(options),
    })
    if (onAsk !== undefined) client.setRequestHandler(ElicitRequestSchema, ({ params }) => onAsk(params))
    await client.connect(new V1Transport(new URL(url), headersOf(token)) as Transport)
    return {
      list: async () => (await client.listTools()).tools,
      call: (name, args = {}, { onProgress, signal } = {}) =>
        client.callTool({ name, arguments: args }, undefined, {
          ...(onProgress && { onprogress: onProgress }),
          ...(signal && { signal }),
        }),
      ping: () => client.ping(),
      instructions: () => client.getInstructions(),
      close: () => client.close(),
    }
  },
}

/** The 2.x SDK's client. */
function sdkV2(name: string, era: Kind['era'], negotiation: object): Kind {
  return {
    name,
    era,
    async connect(url, token, options = {}) {
      const { onAsk } = options
      const client = new v2.Client(INFO, {
        ...negotiation,
        capabilities: onAsk === undefined ? {} : { elicitation: { form: {} } },
        ...watching(options),
      })
      if (onAsk !== undefined) client.setRequestHandler('elicitation/create', ({ params }) => onAsk(params))
      await client.connect(new v2.StreamableHTTPClientTransport(new URL(url), headersOf(token)))
      return {
        list: async () => (await client.listTools()).tools,
        call: (tool, args = {}, { onProgress, signal } = {}) =>
          client.callTool(
            { name: tool, arguments: args },
            { ...(onProgress && { onprogress: onProgress }), ...(signal && { signal }) },
          ),
        ...(era === 'legacy' && { ping: () => client.ping() }),
        instructions: () => client.getInstructions(),
        close: () => client.close(),
      }
    },
  }
}

export const sdkV2Legacy = sdkV2('MCP SDK 2.x as it comes', 'legacy', {})
export const sdkV2Auto = sdkV2('MCP SDK 2.x that negotiates', 'modern', { versionNegotiation: { mode: 'auto' } })

/** One run of the MCP Inspector's command line. */
export interface Inspected {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** The Inspector's command line against one gateway; each request is a process of its own. */
export async function inspector(url: string, era: 'legacy' | 'auto' | 'modern') {
  const home = await mkdtemp(join(tmpdir(), 'tollgate-inspector-'))
  const program = createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/package.json')
  const launcher = join(program, '../clients/launcher/build/index.js')
  const running = new Set<ChildProcess>()
  return {
    run(token: string, ...args: string[]): Promise<Inspected> {
      const how = ['--transport', 'http', '--protocol-era', era, '--header', `Authorization: Bearer ${token}`]
      const child = spawn(
        process.execPath,
        [launcher, '--cli', url, ...how, '--stored-auth-only', '--format', 'json', ...args],
        { env: { PATH: process.env.PATH, HOME: home }, stdio: ['ignore', 'pipe', 'pipe'] },
      )
      running.add(child)
      let out = ''
      let err = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        out += text
      })
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        err += text
      })
      return new Promise((resolve) => {
        child.on('close', (code) => {
          running.delete(child)
          resolve({ code, out, err })
        })
      })
    },
    async close() {
      for (const child of running) child.kill('SIGKILL')
      await rm(home, { recursive: true, force: true })
    },
  }
}

/** Asks until it holds; throws with `what` after `ms`. Returns how long it took, in milliseconds. */
export async function until(what: string, check: () => unknown, ms = 10_000): Promise<number> {
  const started = performance.now()
  while (!(await check())) {
    if (performance.now() - started > ms) throw new Error(`Waited ${ms} ms in vain: ${what}.`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return performance.now() - started
}

/** All text of a result. */
export const textOf = (result: any): string =>
  (result.content ?? [])
    .map(({ text }: { text?: string }) => text)
    .filter((text: unknown) => text !== undefined)
    .join('\n')
