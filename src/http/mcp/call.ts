/**
 * `tools/call` at the MCP door: the caller's text in, the gate, and the outcome in the words of its era.
 * @module
 */
import type { Card } from '../../approvals/cards.ts'
import type { ElicitationModes, RegisteredTool } from '../../connector/connector.ts'
import type { Asked, Gate, Passing } from '../../gate/gate.ts'
import type { ToolView } from '../../gate/views.ts'
import { canonicalText, join, members, type Span } from '../../json.ts'
import type { Session } from '../../policy/words.ts'
import { type CardPages, pageDone, pageQuestion } from './card-page.ts'
import { BadMessage, isObject, memberText, type Params, passedMeta } from './envelope.ts'
import type { Era, Lists } from './lists.ts'
import { createProgress, wantsProgress } from './progress.ts'
import { META, RPC } from './protocol.ts'
import type { Questions } from './questions.ts'
import type { Reply } from './reply.ts'
import { type Answers, createRounds, type Rounds } from './rounds.ts'
import { answerText, errorText, inputRequired, outcomeText } from './say.ts'
import type { Scope } from './scope.ts'
import { declaresTasks } from './task.ts'

export interface CallParts {
  readonly gate: Gate
  readonly lists: Lists
  readonly questions: Questions
  readonly pages: CardPages
  /** Told of a failure of the gateway itself, for the log. */
  readonly broke: (problem: unknown) => void
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
  const { name } = params.value
  if (typeof name !== 'string') throw new BadMessage(200, RPC.invalidParams, '"name" must be a string.', idText)
  const argumentsText = readArguments(params, idText)
  const tool = parts.lists.find(call.view, call.scope, name)
  if (tool !== undefined) check(tool, argumentsText)
  const binding = (): string => JSON.stringify([call.session.id, name, canonicalText(argumentsText ?? '{}')])
  const progress = createProgress(params, reply, parts.progressMs)
  const shown = era === 'modern' && sawPage(parts, call, binding)
  const kept = era === 'modern' && !shown ? resume(parts, call, binding, progress) : undefined
  const rounds = kept ?? createRounds(progress, era === 'modern' && !shown ? answersOf(params) : new Map())
  rounds.passing ??= parts.gate.call(
    askedFor(parts, call, rounds, shown, { written: name, name: canonicalOf(call.scope, name), tool, argumentsText }),
  )
  void answer(parts, call, rounds, binding)
  return rounds.passing
}

/** The call as the gate sees it. Whatever of it speaks to the client speaks to the request that is here now. */
function askedFor(
  parts: CallParts,
  call: ToolCall,
  rounds: Rounds,
  shown: boolean,
  what: Pick<Asked, 'written' | 'name' | 'tool' | 'argumentsText'>,
): Asked {
  const { session, params, elicitation, era, mcpSessionId, reply } = call
  const handle = era === 'modern' && declaresTasks(params.meta[META.clientCapabilities])
  return {
    ...what,
    session,
    elicitation,
    extraText: join(params.text, params.spans, isOwnMember),
    metaText: passedMeta(params),
    onProgress: wantsProgress(params) ? (paramsText) => rounds.progress.relay(paramsText) : undefined,
    ask(questions) {
      if (era === 'modern') return rounds.ask(questions)
      if (mcpSessionId === undefined || !reply.streams) return Promise.resolve(new Map())
      return parts.questions.askLegacy(session, mcpSessionId, questions, reply.message)
    },
    onHold(card) {
      if (!shown && showPage(parts, call, rounds, card)) return
      if (!handle) rounds.progress.hold(card)
    },
    ...(handle && { handle }),
  }
}

/**
 * Shows the person at the client the card's page, once. A modern request ends with it, and its client comes back as for
 * a new call (true); a legacy one goes on waiting.
 */
function showPage(parts: CallParts, call: ToolCall, rounds: Rounds, card: Card): boolean {
  const { session, elicitation, era, mcpSessionId, reply } = call
  if (card.status !== 'pending' || session.role.terminalDecides !== true || !elicitation.url) return false
  if (era === 'legacy' && (mcpSessionId === undefined || !reply.streams)) return false
  if (!parts.pages.offer(card.id)) return false
  const question = pageQuestion(parts.inboxUrl, card, era)
  if (era === 'modern') {
    rounds.show(question)
    return true
  }
  rounds.page = card.id
  void parts.questions.askLegacy(session, mcpSessionId as string, [question], reply.message)
  return false
}

/** Waits for what the call comes to and says it: an outcome, or questions with a state to come back with. */
async function answer(parts: CallParts, call: ToolCall, rounds: Rounds, binding: () => string): Promise<void> {
  const { reply, era, idText } = call
  const firstByte = setTimeout(reply.open, parts.firstByteMs)
  try {
    // Only a modern call has rounds.
    const next = await (era === 'modern' || rounds.passing === undefined ? rounds.next() : rounds.passing.outcome)
    if (next.kind === 'page') {
      reply.end(answerText(idText, inputRequired(parts.serverInfoText, [next.question], parts.pages.state(binding()))))
      rounds.passing?.leave()
      return
    }
    if (next.kind === 'asking') {
      const state = parts.questions.suspend({ binding: binding(), answer: next.answer, rounds })
      reply.end(answerText(idText, inputRequired(parts.serverInfoText, next.questions, state)))
      return
    }
    const card = 'card' in next ? next.card : undefined
    if (card !== undefined && next.kind !== 'pending') {
      reply.onDelivered(() => parts.delivered(card.id))
      if (rounds.page === card.id) reply.message(pageDone(card.id))
    }
    reply.end(outcomeText(parts, era, idText, next))
  } catch (problem) {
    parts.broke(problem)
    const sentence = 'The gateway failed inside. The call may have run; check before you call again.'
    reply.end(errorText(idText, RPC.internal, sentence))
  } finally {
    clearTimeout(firstByte)
    rounds.progress.stop()
  }
}

/** Whether a modern client comes back from the card's page: this is the same call, and goes on as any retry of it. */
function sawPage({ pages }: CallParts, { params }: ToolCall, binding: () => string): boolean {
  const state = params.value.requestState
  return typeof state === 'string' && pages.isState(state, binding())
}

/** The canonical form of a name as this door lists it; names that are none stay none. */
const canonicalOf = (scope: Scope, name: string): string => `mcp__${scope === undefined ? '' : `${scope}__`}${name}`

const OWN_MEMBERS = new Set(['name', 'arguments', '_meta', 'requestState', 'inputResponses', 'task'])
const isOwnMember = (key: string): boolean => OWN_MEMBERS.has(key)

/** `arguments` as text: an object, or nothing for absent and null. */
function readArguments(params: Params, idText: string): string | undefined {
  const value = params.value.arguments
  if (value === undefined || value === null) return undefined
  if (!isObject(value)) throw new BadMessage(200, RPC.invalidParams, '"arguments" must be an object.', idText)
  return memberText(params, 'arguments')
}

/**
 * A modern client that comes back with answers: its call goes on where it stood. A state is good once, and for the
 * session, tool and arguments it was given for.
 */
function resume(
  parts: CallParts,
  call: ToolCall,
  binding: () => string,
  progress: Rounds['progress'],
): Rounds | undefined {
  const state = call.params.value.requestState
  if (state === undefined) return undefined
  const kept = typeof state === 'string' ? parts.questions.resume(state, binding()) : undefined
  if (kept === undefined) {
    const sentence = 'This "requestState" belongs to no call that waits for you. Call again without it.'
    throw new BadMessage(200, RPC.invalidParams, sentence, call.idText)
  }
  kept.rounds.progress = progress
  kept.answer(answersOf(call.params))
  return kept.rounds
}

/** `inputResponses`, by key, as JSON texts. */
function answersOf(params: Params): Answers {
  const text = memberText(params, 'inputResponses')
  const spans = text === undefined ? undefined : members(text)
  const texts = [...(spans ?? new Map<string, Span>())]
  return new Map(texts.map(([key, { start, end }]) => [key, (text as string).slice(start, end)]))
}
