/**
 * A scripted MCP server over stdio, in both eras, for tests. Plain Node, so it starts fast and depends on nothing.
 *
 * Argv:
 *   --ledger FILE       append one JSON line per start, execution, cancellation and signal ({pid, event, …})
 *   --era both|legacy|modern (both)
 *   --banner --blank --half --long-line --garbage   noise on stdout before anything else (--long-line: 5 MB)
 *   --stderr-mb N       N MB on stderr at the start
 *   --ignore-term       SIGTERM and the end of input do not end it
 *   --grandchild        starts `sleep`ing grandchild at the start (ignores SIGTERM with --ignore-term)
 *   --silent            reads and never answers; --deaf: does not even read
 *   --exit-at-start N   leaves with code N at once; --start-ms N: answers nothing for N ms
 *   --tools N           N more tools (extra_0 …); --page N: pages of N tools
 *   --definitions FILE  JSON text of the list of tools, sent as it stands; a tool not named below then answers with
 *                       the text of its argument `result`, or says its arguments as they stood; the ledger keeps each line.
 *                       Texts in its argument `lines` are written first, with the id of the call for ID
 *
 * Tools: see TOOLS. `mute` never answers; `exit` leaves in mid-call; `answer_and_exit` answers first.
 */
import { spawn } from 'node:child_process'
import { appendFileSync, closeSync, fstatSync, readFileSync, readlinkSync } from 'node:fs'
import { createInterface } from 'node:readline'

const argv = process.argv.slice(2)
const flag = (name) => argv.includes(`--${name}`)
const option = (name, otherwise) => (flag(name) ? argv[argv.indexOf(`--${name}`) + 1] : otherwise)
const ledger = option('ledger')
const era = option('era', 'both')
const note = (event, more = {}) => {
  if (ledger) appendFileSync(ledger, `${JSON.stringify({ pid: process.pid, event, ...more })}\n`)
}
const sleep = (ms, signal) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })

const MODERN = '2026-07-28'
const LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']
const INFO = { name: 'stdio-upstream', version: '1.0.0' }
const META = 'io.modelcontextprotocol/'

const object = (properties = {}, required = []) => ({ type: 'object', properties, required })
const TOOLS = {
  echo: 'Says the arguments again.',
  add: 'Adds a and b.',
  environment: 'Prints its environment.',
  descriptors: 'Prints its open descriptors and their targets.',
  sleep: 'Answers after ms.',
  mute: 'Never answers.',
  exit: 'Leaves with the given code in mid-call.',
  answer_and_exit: 'Answers and leaves at once.',
  stderr: 'Writes mb megabytes on stderr, then answers.',
  noise: 'Writes noise on stdout, then answers.',
  big: 'Answers with bytes of text.',
  garbled: 'Answers with neither result nor error.',
  fail: 'Answers with isError.',
  error: 'Answers with a JSON-RPC error.',
  progress: 'Sends steps progress notices, one per ms.',
  elicit: 'Asks the person at the other end.',
  grandchild: 'Starts a sleeping grandchild and prints the pid.',
  shut: 'Closes the stream named by which: stdin or stdout.',
  change_tools: 'Adds a tool and says so.',
  whoami: 'Prints its pid.',
}
const added = []
const listed = () => [
  ...Object.entries(TOOLS).map(([name, description]) => ({
    name,
    description,
    inputSchema: name === 'add' ? object({ a: { type: 'number' }, b: { type: 'number' } }, ['a', 'b']) : object(),
  })),
  ...Array.from({ length: Number(option('tools', 0)) }, (_, i) => ({ name: `extra_${i}`, inputSchema: object() })),
  ...added.map((name) => ({ name, description: 'Added later.', inputSchema: object() })),
]

const running = new Map()
const asked = new Map()
const subscriptions = new Map()
let nextAsk = 1

const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const text = (value) => ({
  content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }],
})

function grandchild() {
  const script = flag('ignore-term') ? "trap '' TERM HUP INT; while :; do sleep 1; done" : 'sleep 600'
  const child = spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'inherit', 'inherit'] })
  note('grandchild', { child: child.pid })
  return child.pid
}

async function flood(mb) {
  const line = `${'x'.repeat(1023)}\n`.repeat(1024)
  for (let i = 0; i < mb; i++) {
    if (!process.stderr.write(line)) await new Promise((resolve) => process.stderr.once('drain', resolve))
  }
}

function descriptors() {
  const open = []
  for (let fd = 0; fd < 256; fd++) {
    try {
      fstatSync(fd)
      open.push([fd, process.platform === 'linux' ? readlinkSync(`/proc/self/fd/${fd}`) : ''])
    } catch {}
  }
  return open
}

/** One tool call. `modern` says how to ask; returns a result, or undefined for no answer. */
async function execute(id, params, modern, signal) {
  const { name, arguments: args = {}, _meta: meta = {} } = params
  note('call', { id, tool: name, args, meta })
  switch (name) {
    case 'echo':
      return { ...text(args), structuredContent: args }
    case 'add':
      return text(String(args.a + args.b))
    case 'environment':
      return text(process.env)
    case 'descriptors':
      return text(descriptors())
    case 'sleep':
      await sleep(args.ms ?? 1000, signal)
      return text('slept')
    case 'mute':
      await sleep(2 ** 30, signal)
      return undefined
    case 'exit':
      await sleep(args.ms ?? 0)
      process.exit(args.code ?? 3)
      break
    case 'answer_and_exit':
      process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: text('last words') })}\n`, () =>
        process.exit(0),
      )
      return undefined
    case 'stderr':
      await flood(args.mb ?? 1)
      return text('flooded')
    case 'noise':
      process.stdout.write('debug: in the call\n\n{"jsonrpc":"2.0","id":\n[1,2,3]\n"text"\n')
      return text('after noise')
    case 'big':
      return text('y'.repeat(args.bytes ?? 1))
    case 'garbled':
      write({ id })
      return undefined
    case 'fail':
      return { ...text('it failed'), isError: true }
    case 'error':
      throw { code: args.code ?? -32602, message: 'bad params', data: args.data }
    case 'progress':
      for (let i = 1; i <= (args.steps ?? 3) && !signal.aborted; i++) {
        await sleep(args.ms ?? 10, signal)
        if (meta.progressToken === undefined) continue
        const notice = { progressToken: meta.progressToken, progress: i, total: args.steps ?? 3, message: `step ${i}` }
        write({ method: 'notifications/progress', params: notice })
      }
      return text('done')
    case 'elicit': {
      const question = {
        mode: 'form',
        message: args.message ?? 'Sure?',
        requestedSchema: object({ ok: { type: 'boolean' } }),
      }
      if (modern) {
        if (params.inputResponses) return text(params.inputResponses.q)
        return {
          resultType: 'input_required',
          requestState: 's',
          inputRequests: { q: { method: 'elicitation/create', params: question } },
        }
      }
      const askId = `ask-${nextAsk++}`
      write({ id: askId, method: 'elicitation/create', params: question })
      return text(await new Promise((resolve) => asked.set(askId, resolve)))
    }
    case 'grandchild':
      return text(String(grandchild()))
    case 'shut':
      closeSync(args.which === 'stdin' ? 0 : 1)
      await sleep(2 ** 30, signal)
      return undefined
    case 'change_tools':
      added.push(args.name ?? `added_${added.length}`)
      if (!modern) write({ method: 'notifications/tools/list_changed' })
      for (const subscription of subscriptions.keys()) {
        write({
          method: 'notifications/tools/list_changed',
          params: { _meta: { [`${META}subscriptionId`]: subscription } },
        })
      }
      return text('changed')
    case 'whoami':
      return text(String(process.pid))
    default:
      if (listed().some((tool) => tool.name === name)) return text(`${name} ran`)
      throw { code: -32602, message: `Unknown tool: ${name}` }
  }
}

function list(params) {
  const all = listed()
  const size = Number(option('page', all.length))
  const from = Number(params?.cursor ?? 0)
  const next = from + size < all.length ? { nextCursor: String(from + size) } : {}
  return { tools: all.slice(from, from + size), ...next }
}

async function respond({ id, method, params = {} }) {
  const version = params._meta?.[`${META}protocolVersion`]
  const modern = version !== undefined && era !== 'legacy'
  const complete = (result, more = {}) => (modern ? { resultType: 'complete', ...more, ...result } : result)
  const cached = { ttlMs: 0, cacheScope: 'private' }
  if (version !== undefined && modern && version !== MODERN) {
    throw { code: -32022, message: 'Unsupported protocol version', data: { supported: [MODERN], requested: version } }
  }
  if (modern && method === 'server/discover') {
    const result = { supportedVersions: [MODERN], capabilities: { tools: { listChanged: true } } }
    return complete({ ...result, _meta: { [`${META}serverInfo`]: INFO } }, cached)
  }
  if (modern && method === 'subscriptions/listen') {
    subscriptions.set(id, true)
    const _meta = { [`${META}subscriptionId`]: id }
    write({
      method: 'notifications/subscriptions/acknowledged',
      params: { _meta, notifications: { toolsListChanged: true } },
    })
    return undefined
  }
  if (!modern && era === 'modern') throw { code: -32602, message: 'Modern requests only' }
  if (!modern && method === 'initialize') {
    note('initialize', { params })
    const protocolVersion = LEGACY.includes(params.protocolVersion) ? params.protocolVersion : LEGACY[0]
    return { protocolVersion, capabilities: { tools: { listChanged: true } }, serverInfo: INFO }
  }
  if (!modern && method === 'ping') return {}
  if (method === 'tools/list') return complete(list(params), cached)
  if (method === 'tools/call') {
    const abort = new AbortController()
    running.set(id, abort)
    try {
      const result = await execute(id, params, modern, abort.signal)
      return result === undefined || abort.signal.aborted ? undefined : complete(result)
    } finally {
      running.delete(id)
    }
  }
  throw { code: -32601, message: `Method not found: ${method}` }
}

/** With --definitions: what must not be read and written again. True when the line is dealt with. */
function hearExactly(line, message) {
  if (!flag('definitions') || message.id === undefined) return false
  const { id, method, params } = message
  const modern = params?._meta?.[`${META}protocolVersion`] !== undefined && era !== 'legacy'
  const complete = modern ? '"resultType":"complete",' : ''
  const send = (result) => {
    const more = result.includes('"resultType"') ? '' : complete
    process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{${more}${result.trim().slice(1)}}\n`)
  }
  if (method === 'tools/list') {
    const cached = modern ? '"ttlMs":0,"cacheScope":"private",' : ''
    send(`{${cached}"tools":${readFileSync(option('definitions'), 'utf8')}}`)
    return true
  }
  if (method !== 'tools/call' || params.name in TOOLS) return false
  note('line', { tool: params.name, line })
  const { result, lines } = params.arguments ?? {}
  for (const text of lines ?? []) process.stdout.write(`${text.replaceAll('ID', id)}\n`)
  if (typeof result === 'string') send(result)
  else send(`{"content":[{"type":"text","text":${JSON.stringify(line)}}]}`)
  return true
}

async function hear(line) {
  let message
  try {
    message = JSON.parse(line)
  } catch {
    note('unreadable', { line: line.slice(0, 200) })
    return
  }
  if (hearExactly(line, message)) return
  if (flag('silent')) return note('ignored', { method: message.method })
  if (message.method === undefined) {
    asked.get(message.id)?.(message.result ?? { error: message.error })
    asked.delete(message.id)
    return
  }
  if (message.id === undefined) {
    if (message.method === 'notifications/cancelled') {
      note('cancelled', { id: message.params?.requestId, reason: message.params?.reason })
      running.get(message.params?.requestId)?.abort()
      subscriptions.delete(message.params?.requestId)
    }
    return
  }
  try {
    const result = await respond(message)
    if (result !== undefined) write({ id: message.id, result })
  } catch (error) {
    const { code, message: why, data } = error
    write({ id: message.id, error: { code: typeof code === 'number' ? code : -32603, message: String(why), data } })
  }
}

note('start', { argv, cwd: process.cwd() })
if (flag('exit-at-start')) process.exit(Number(option('exit-at-start')))
if (flag('ignore-term')) {
  for (const name of ['SIGTERM', 'SIGHUP', 'SIGINT']) process.on(name, () => note('signal', { name }))
  setInterval(() => {}, 1000)
} else {
  process.on('SIGTERM', () => {
    note('signal', { name: 'SIGTERM' })
    process.exit(0)
  })
}
process.stdout.on('error', () => {})
process.stderr.on('error', () => {})
if (flag('grandchild')) grandchild()
if (flag('banner')) process.stdout.write('Welcome to the scripted server v1.0 — ready!\n')
if (flag('blank')) process.stdout.write('\n   \n\r\n')
if (flag('half')) process.stdout.write('{"jsonrpc":"2.0","id":1,"resu\n')
if (flag('garbage')) process.stdout.write(Buffer.from([0xff, 0xfe, 0x00, 0x80, 0x0a]))
if (flag('long-line')) process.stdout.write(`${'z'.repeat(5 * 1024 * 1024)}\n`)
if (flag('stderr-mb')) await flood(Number(option('stderr-mb')))
if (flag('start-ms')) await sleep(Number(option('start-ms')))
if (flag('deaf')) setInterval(() => {}, 1000)
else {
  const input = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })
  input.on('line', (line) => void hear(line))
  input.on('close', () => {
    note('input ended')
    if (!flag('ignore-term')) process.exit(0)
  })
}
