/**
 * `tasks/get`, `tasks/update` and `tasks/cancel` at the MCP door. Whose task it is, and what became of it, is the gate's
 * to say; another session's id and one that never was get one answer, byte for byte.
 * @module
 */
import type { Card } from '../../approvals/cards.ts'
import { AuditUnavailable } from '../../audit/audit.ts'
import { DatabaseUnavailable } from '../../db/errors.ts'
import type { Gate } from '../../gate/gate.ts'
import { isTakenBack } from '../../gate/person.ts'
import type { Session } from '../../policy/words.ts'
import { BadMessage, type Params } from './envelope.ts'
import { META, RPC } from './protocol.ts'
import type { Reply } from './reply.ts'
import { answerText, sayOutcome, type Words } from './say.ts'
import { acknowledgedText, cancelledText, declaresTasks, endedText, TASKS, workingText } from './task.ts'

export interface TaskParts extends Words {
  readonly gate: Gate
  /** Told when a card's outcome has gone out to its caller. */
  readonly delivered: (cardId: string) => void
}

/** One request about a task. */
export interface TaskRequest {
  readonly session: Session
  readonly method: string
  readonly idText: string
  readonly params: Params
  readonly reply: Reply
}

/** Answers one request about a task; throws BadMessage. */
export async function serveTask(parts: TaskParts, request: TaskRequest): Promise<void> {
  const { session, method, params, idText, reply } = request
  needTasks(params, idText)
  const { taskId } = params.value
  if (typeof taskId !== 'string') throw new BadMessage(200, RPC.invalidParams, '"taskId" must be a string.', idText)
  try {
    const card = await parts.gate.cardOf(session, taskId)
    if (card === undefined) throw new BadMessage(200, RPC.invalidParams, NO_SUCH_TASK, idText)
    if (method === 'tasks/get') return await tell(parts, request, card)
    // An update has nothing to answer: a task of this gateway never asks its client for input.
    if (method === 'tasks/cancel') await parts.gate.takeBack(card)
    reply.end(answerText(idText, acknowledgedText(parts)))
  } catch (problem) {
    if (!(problem instanceof DatabaseUnavailable || problem instanceof AuditUnavailable)) throw problem
    throw new BadMessage(200, RPC.internal, AWAY, idText)
  }
}

const NO_SUCH_TASK = 'There is no such task in this session. Call the tool again for a new one.'
const AWAY = 'The gateway cannot reach its database. The task is kept; ask again in a few seconds.'

/** Refuses a request that does not declare the extension (ext-tasks, "Protocol Errors"). */
export function needTasks(params: Params, idText: string): void {
  if (declaresTasks(params.meta[META.clientCapabilities])) return
  const data = `{"requiredCapabilities":{"extensions":{"${TASKS}":{}}}}`
  throw new BadMessage(400, RPC.missingCapability, `Declare the extension ${TASKS} on this request.`, idText, data)
}

/** The task as it stands. Once its end has gone out, the next equal call is a new one; the task stays to be read. */
async function tell(parts: TaskParts, { idText, reply }: TaskRequest, card: Card): Promise<void> {
  if (isTakenBack(card)) return reply.end(answerText(idText, cancelledText(parts, card)))
  const outcome = await parts.gate.outcomeOf(card)
  if (outcome.kind === 'pending') return reply.end(answerText(idText, workingText(parts, card)))
  reply.onDelivered(() => parts.delivered(card.id))
  reply.end(answerText(idText, endedText(parts, card, sayOutcome(parts, 'modern', outcome))))
}
