/**
 * The rounds of one modern call: questions, answers, questions, …, outcome (SEP-2322). The call goes on inside the gate
 * while its client is away fetching answers.
 * @module
 */
import type { Question } from '../../connector/connector.ts'
import type { Passing } from '../../gate/gate.ts'
import type { Outcome } from '../../gate/outcome.ts'
import type { Progress } from './progress.ts'

/** Answers by key, each the JSON text of an ElicitResult. */
export type Answers = ReadonlyMap<string, string>

/** The page of a card, to be shown to the person at the client. It asks nothing, and has no answer. */
export interface Showing {
  readonly kind: 'page'
  readonly question: Question
}

/** A round's questions, and where its answers go. */
export interface Asking {
  readonly kind: 'asking'
  readonly questions: readonly Question[]
  readonly answer: (answers: Answers) => void
}

export interface Rounds {
  /** The call; set once it was started. */
  passing: Passing | undefined
  /** The progress of the request that is here now. */
  progress: Progress
  /** The card whose page a legacy client was shown. */
  page: string | undefined
  /** The gate's side: asks the client. */
  ask(questions: readonly Question[]): Promise<Answers>
  /** Ends the request that is here now with a page to show. */
  show(question: Question): void
  /** The door's side: the next questions, or the outcome. */
  next(): Promise<Asking | Showing | Outcome>
}

/** Rounds of a call that starts. `early` answers, which came with it, serve the first round if they answer all of it. */
export function createRounds(progress: Progress, early: Answers): Rounds {
  const queue: (Asking | Showing)[] = []
  let unused = early
  let arrived: ((asking: Asking | Showing) => void) | undefined

  function put(asking: Asking | Showing): void {
    if (arrived === undefined) queue.push(asking)
    else arrived(asking)
  }

  return {
    passing: undefined,
    progress,
    page: undefined,
    show: (question) => put({ kind: 'page', question }),
    ask(questions) {
      const given = unused
      unused = new Map()
      if (questions.every(({ key }) => given.has(key))) return Promise.resolve(given)
      return new Promise((answer) => put({ kind: 'asking', questions, answer }))
    },
    next() {
      const first = queue.shift()
      if (first !== undefined) return Promise.resolve(first)
      const asking = new Promise<Asking | Showing>((resolve) => {
        arrived = (value) => {
          arrived = undefined
          resolve(value)
        }
      })
      return Promise.race([asking, (this.passing as Passing).outcome])
    },
  }
}
