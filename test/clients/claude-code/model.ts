/**
 * A stand-in for the Messages API of the model's vendor: it plays what a scene says, turn by turn, so that the real
 * client can be driven without a model, an account or a network.
 * @module
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What the model says in one turn: words, or the use of a tool. */
export type Said = { readonly text: string } | { readonly tool: string; readonly input: object }

/** One turn of the conversation, as the model is shown it. */
export interface Turn {
  /** From 0. */
  readonly number: number
  /** The text of the newest tool result, or '' at the first turn. */
  readonly result: string
  readonly isError: boolean
  /** Names of the tools on offer. */
  readonly tools: readonly string[]
}

/** Says what comes next; it may wait for something first. */
export type Play = (turn: Turn) => Said | Promise<Said>

export interface Model {
  readonly url: string
  /** The scene from now on. */
  play(scene: Play): void
  close(): void
}

interface Block {
  readonly type: string
  readonly text?: string
  readonly is_error?: boolean
  readonly content?: string | readonly Block[]
}

interface Asked {
  readonly model: string
  readonly stream?: boolean
  readonly tools?: ReadonlyArray<{ readonly name: string }>
  readonly messages: ReadonlyArray<{ readonly role: string; readonly content: string | readonly Block[] }>
}

/** Starts it on a free port. */
export async function startModel(): Promise<Model> {
  let scene: Play = () => ({ text: 'Nothing to do.' })
  const server = createServer((req, res) => {
    respond(req, res, (turn) => scene(turn)).catch((problem: unknown) => {
      if (!res.headersSent) res.writeHead(500, { 'content-type': 'application/json' })
      res.end(JSON.stringify({ type: 'error', error: { type: 'api_error', message: String(problem) } }))
    })
  })
  server.requestTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    play(next) {
      scene = next
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function respond(req: IncomingMessage, res: ServerResponse, play: Play): Promise<void> {
  const parts: Buffer[] = []
  for await (const part of req) parts.push(part as Buffer)
  const path = new URL(req.url ?? '/', 'http://model').pathname
  if (req.method !== 'POST' || !path.startsWith('/v1/messages')) {
    res.writeHead(req.method === 'HEAD' ? 200 : 404).end()
    return
  }
  if (path.endsWith('/count_tokens')) {
    res.writeHead(200, { 'content-type': 'application/json' }).end('{"input_tokens":100}')
    return
  }
  const asked = JSON.parse(Buffer.concat(parts).toString()) as Asked
  // Titles and summaries are asked for without tools, and are no turn of the scene.
  const said = (asked.tools ?? []).length === 0 ? { text: 'A title' } : await play(turnOf(asked))
  speak(res, asked, said)
}

function turnOf({ messages, tools = [] }: Asked): Turn {
  const newest = blocks(messages.findLast(({ role }) => role === 'user')?.content ?? '')
  const result = newest.findLast(({ type }) => type === 'tool_result')
  return {
    number: messages.filter(({ role }) => role === 'assistant').length,
    result: result === undefined ? '' : textOf(result.content ?? ''),
    isError: result?.is_error === true,
    tools: tools.map(({ name }) => name),
  }
}

const blocks = (content: string | readonly Block[]): readonly Block[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content

const textOf = (content: string | readonly Block[]): string =>
  blocks(content)
    .map(({ text = '' }) => text)
    .join('\n')

let calls = 0

/** The answer, as a stream of events or as one message. */
function speak(res: ServerResponse, { model, stream }: Asked, said: Said): void {
  const usage = { input_tokens: 10, output_tokens: 10 }
  const head = { id: `msg_${++calls}`, type: 'message', role: 'assistant', model, stop_sequence: null, usage }
  const isText = 'text' in said
  const block = isText
    ? { type: 'text', text: said.text }
    : { type: 'tool_use', id: `toolu_${calls}`, name: said.tool, input: said.input }
  const stop_reason = isText ? 'end_turn' : 'tool_use'
  if (stream !== true) {
    res.writeHead(200, { 'content-type': 'application/json' })
    res.end(JSON.stringify({ ...head, content: [block], stop_reason }))
    return
  }
  res.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (type: string, data: object): void => {
    res.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
  }
  const empty = isText ? { ...block, text: '' } : { ...block, input: {} }
  const delta = isText
    ? { type: 'text_delta', text: said.text }
    : { type: 'input_json_delta', partial_json: JSON.stringify(said.input) }
  send('message_start', { message: { ...head, content: [], stop_reason: null } })
  send('content_block_start', { index: 0, content_block: empty })
  send('content_block_delta', { index: 0, delta })
  send('content_block_stop', { index: 0 })
  send('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 10 } })
  send('message_stop', {})
  res.end()
}
