/**
 * Asking the person at the client's end, for an upstream. A legacy client is asked by a request on the call's own
 * stream and answers with a POST; a modern one gets `input_required` and calls again with the answers (SEP-2322).
 * What is being waited for lives in this process: after a restart the question is gone, and nothing runs by itself.
 * @module
 */
import { createHmac, randomBytes } from 'node:crypto'
import type { Question } from '../../connector/connector.ts'
import type { Session } from '../../policy/words.ts'
import type { Answers, Rounds } from './rounds.ts'

/** A modern call that waits for its client to come back with answers. */
export interface Suspended {
  /** What its state is good for. */
  readonly binding: string
  readonly answer: (answers: Answers) => void
  readonly rounds: Rounds
}

export interface Questions {
  /** Asks a legacy client over `send` and waits for its POST. */
  askLegacy(
    session: Session,
    mcpSessionId: string,
    questions: readonly Question[],
    send: (text: string) => void,
  ): Promise<Answers>
  /** A legacy client's answer; false when nothing waits for it. */
  answerLegacy(session: Session, mcpSessionId: string, id: string | number, resultText: string | undefined): boolean
  /** Keeps a modern call until its client comes back; returns the request state for it. */
  suspend(suspended: Suspended): string
  /** Takes a suspended call out, once, if the state and what it is bound to agree. */
  resume(state: string, binding: string): Suspended | undefined
}

/** A little less than a call may take in all, so that an upstream hears that nobody answered. */
const ANSWER_WITHIN_MS = 270_000

/** Builds the questions of this process. */
export function createQuestions(key: Buffer): Questions {
  const waiting = new Map<string, (resultText: string | undefined) => void>()
  const suspended = new Map<string, { kept: Suspended; timer: NodeJS.Timeout }>()
  let count = 0

  function askOne(
    owner: string,
    question: Question,
    send: (text: string) => void,
  ): Promise<[string, string] | undefined> {
    const id = `tollgate-${++count}-${randomBytes(6).toString('base64url')}`
    return new Promise((resolve) => {
      const timer = setTimeout(() => settle(undefined), ANSWER_WITHIN_MS)
      function settle(resultText: string | undefined): void {
        clearTimeout(timer)
        waiting.delete(`${owner} ${id}`)
        resolve(resultText === undefined ? undefined : [question.key, resultText])
      }
      waiting.set(`${owner} ${id}`, settle)
      send(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"elicitation/create","params":${question.paramsText}}`)
    })
  }

  const stateOf = (handle: string, binding: string): string =>
    `${handle}.${createHmac('sha256', key).update(`${handle}\n${binding}`).digest('base64url')}`

  return {
    async askLegacy(session, mcpSessionId, questions, send) {
      const owner = `${session.id} ${mcpSessionId}`
      const answers = await Promise.all(questions.map((question) => askOne(owner, question, send)))
      return new Map(answers.filter((answer) => answer !== undefined))
    },
    answerLegacy(session, mcpSessionId, id, resultText) {
      const settle = waiting.get(`${session.id} ${mcpSessionId} ${id}`)
      settle?.(resultText)
      return settle !== undefined
    },
    suspend(kept) {
      const handle = randomBytes(18).toString('base64url')
      const timer = setTimeout(() => {
        suspended.delete(handle)
        kept.answer(new Map())
      }, ANSWER_WITHIN_MS)
      timer.unref()
      suspended.set(handle, { kept, timer })
      return stateOf(handle, kept.binding)
    },
    resume(state, binding) {
      const handle = state.split('.')[0] ?? ''
      const entry = suspended.get(handle)
      if (entry === undefined || entry.kept.binding !== binding || stateOf(handle, binding) !== state) return undefined
      suspended.delete(handle)
      clearTimeout(entry.timer)
      return entry.kept
    },
  }
}
