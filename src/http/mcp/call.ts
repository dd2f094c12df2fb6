/**
 * `tools/call` at the MCP door: the caller's text in, the gate, and the outcome in the words of its era.
 * @module
 */
import type { ElicitationModes, Question, RegisteredTool } from '../../connector/connector.ts'
import type { Asked, Gate, Passing } from '../../gate/gate.ts'
import type { Outcome } from '../../gate/outcome.ts'
import type { ToolView } from '../../gate/views.ts'
import { join, members, type Span } from '../../json.ts'
import type { Session } from '../../policy/words.ts'
import { BadMessage, isObject, memberText, type Params, passedMeta } from './envelope.ts'
import type { Era, Lists } from './lists.ts'
import { RPC } from './protocol.ts'
import type { Answers, Asking, Questions } from './questions.ts'
import type { Reply } from './reply.ts'
import type { Scope } from './scope.ts'
import { answerText, errorText, inputRequired, outcomeText } from './say.ts'

export interface CallParts {
  readonly gate: Gate
  readonly lists: Lists
  readonly questions: Questions
  /** Told when a card's outcome has gone out to its caller. */
  readonly delivered: (cardId: string) => void
  /** Where a person decides, for the words of a pending call. */
  readonly inboxUrl: string
  readonly serverInfoText: string
  /** After this long without an answer the first byte is sent, in milliseconds. */
  readonly firstByteMs: number
  /** How often a held call reports progress, in milliseconds. */
  readonly progressMs: number
}

/** One tools/call request at the door. */
export interface ToolCall {
  readonly session: Session
  readonly view: ToolView
  readonly scope: Scope
  readonly era: Era
  readonly idText: string
  readonly params: Params
  readonly elicitation: ElicitationModes
  /** The legacy session, for questions to the client. */
  readonly mcpSessionId: string | undefined
  readonly reply: Reply
}

/** Starts one call and sees to its answer. `check` may still refuse it by throwing. The returned call can be left. */
export function callTool(
  parts: CallParts,
  call: ToolCall,
  check: (tool: RegisteredTool, argumentsText: string | undefined) => void,
): Passing {
  const { params, reply, era, idText } = call
  const name = params.value.name
  if (typeof name !== 'string') throw new BadMessage(200, RPC.invalidParams, '"name" must be a string.', idText)
  const argumentsText = readArguments(params, idText)
  const progress = createProgress(params, reply)
  const holding = createHold(parts, progress, reply)
  const tool = parts.lists.find(call.view, call.scope, name)
  if (tool !== undefined) check(tool, argumentsText)
  const resumed = era === 'modern' ? resume(parts, call, name, argumentsText) : undefined
  const rounds = resumed ?? createRounds(era === 'modern' ? answersOf(params) : new Map())

  const asked: Asked = {
    session: call.session,
    written: name,
    tool,
    argumentsText,
    extraText: join(params.text, params.spans as Map<string, Span>, isOwnMember),
    metaText: passedMeta(params),
    elicitation: call.elicitation,
    onProgress: progress.relay,
    ask:
      era === 'modern'
        ? rounds.ask
        : (questions) => {
            if (call.mcpSessionId === undefined) return Promise.resolve(new Map())
            reply.open()
            return parts.questions.askLegacy(call.session, call.mcpSessionId, questions, reply.message)
          },
    onHold: holding.start,
  }
  const firstByte = setTimeout(reply.open, parts.firstByteMs)
  const passing = resumed === undefined ? parts.gate.call(asked) : resumed.passing
  if (resumed === undefined) rounds.passing = passing
  rounds.next().then(
    (next) => {
      clearTimeout(firstByte)
      holding.stop()
      if (next.kind === 'asking') {
        const state = parts.questions.suspend({
          binding: bindingOf(call.session, name, argumentsText),
          answer: next.answer,
          next: rounds.next,
          ask: rounds.ask,
          passing,
        })
        reply.end(answerText(idText, inputRequired(parts.serverInfoText, next.questions, state)))
        return
      }
      const card = 'card' in next ? next.card : undefined
      if (card !== undefined && next.kind !== 'pending') reply.onDelivered(() => parts.delivered(card.id))
      reply.end(outcomeText(parts, era, idText, next))
    },
    () => {
      clearTimeout(firstByte)
      holding.stop()
      reply.end(
        errorText(
          idText,
          RPC.internal,
          'The gateway failed inside. The call may have run; check before you call again.',
        ),
      )
    },
  )
  return passing
}

const OWN_MEMBERS = ['name', 'arguments', '_meta', 'requestState', 'inputResponses', 'task']
const isOwnMember = (key: string): boolean => OWN_MEMBERS.includes(key)

/** `arguments` as text: an object, or nothing for absent and null. */
function readArguments(params: Params, idText: string): string | undefined {
  const value = params.value.arguments
  if (value === undefined || value === null) return undefined
  if (!isObject(value)) throw new BadMessage(200, RPC.invalidParams, '"arguments" must be an object.', idText)
  return memberText(params, 'arguments')
}

/** Relays progress under the caller's token, rising only, as the protocol wants it. */
function createProgress(params: Params, reply: Reply) {
  const token = params.meta.progressToken
  if (typeof token !== 'string' && typeof token !== 'number') return { relay: undefined, say: () => {} }
  const head = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${JSON.stringify(token)},`
  let last = Number.NEGATIVE_INFINITY
  function relay(paramsText: string): void {
    const { progress } = JSON.parse(`{${paramsText}}`) as { progress?: unknown }
    if (typeof progress !== 'number' || !(progress > last)) return
    last = progress
    reply.message(`${head}${paramsText}}}`)
  }
  return {
    relay,
    say: (progress: number, message: string) => relay(`"progress":${progress},"message":${JSON.stringify(message)}`),
  }
}

/** While a person decides: the first byte at once, then progress where the caller asked for it. */
function createHold(parts: CallParts, progress: { say: (progress: number, message: string) => void }, reply: Reply) {
  let timer: NodeJS.Timeout | undefined
  let steps = 0
  return {
    start(card: { readonly id: string }): void {
      reply.open()
      const say = (): void => progress.say(++steps / 1000, `Waiting for a person to decide card ${card.id}.`)
      say()
      timer = setInterval(say, parts.progressMs)
    },
    stop(): void {
      clearInterval(timer)
    },
  }
}

/**
 * The rounds of one modern call: questions, answers, questions, …, outcome. `early` answers, which came with the call
 * itself, serve the first round if they answer all of it.
 */
function createRounds(early: Answers) {
  let unused = early
  let arrived: ((asking: Asking) => void) | undefined
  const queue: Asking[] = []
  return {
    passing: undefined as Passing | undefined,
    ask(questions: readonly Question[]): Promise<Answers> {
      const given = unused
      unused = new Map()
      if (questions.every(({ key }) => given.has(key))) return Promise.resolve(given)
      return new Promise((answer) => {
        const asking: Asking = { kind: 'asking', questions, answer }
        if (arrived === undefined) queue.push(asking)
        else arrived(asking)
      })
    },
    async next(): Promise<Asking | Outcome> {
      const first = queue.shift()
      if (first !== undefined) return first
      const asking = new Promise<Asking>((resolve) => {
        arrived = (value) => {
          arrived = undefined
          resolve(value)
        }
      })
      return Promise.race([asking, (this.passing as Passing).outcome])
    },
  }
}

/** A modern client that comes back with answers: the call it belongs to goes on where it stood. */
function resume(parts: CallParts, call: ToolCall, name: string, argumentsText: string | undefined) {
  const state = call.params.value.requestState
  if (state === undefined) return undefined
  const binding = bindingOf(call.session, name, argumentsText)
  const kept = typeof state === 'string' ? parts.questions.resume(state, binding) : undefined
  if (kept === undefined) {
    const sentence = 'This "requestState" belongs to no call that waits for you. Call again without it.'
    throw new BadMessage(200, RPC.invalidParams, sentence, call.idText)
  }
  kept.answer(answersOf(call.params))
  return { passing: kept.passing, next: kept.next, ask: kept.ask }
}

/** `inputResponses`, by key, as JSON texts. */
function answersOf(params: Params): Answers {
  const text = memberText(params, 'inputResponses') ?? '{}'
  const spans = members(text) ?? new Map<string, Span>()
  return new Map([...spans].map(([key, { start, end }]) => [key, text.slice(start, end)]))
}

/** A request state is good for this session, tool and arguments only. */
const bindingOf = (session: Session, name: string, argumentsText: string | undefined): string =>
  JSON.stringify([session.id, name, argumentsText ?? '{}'])
