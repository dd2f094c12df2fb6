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
  /** The gate's side: asks the client. */
  ask(questions: readonly Question[]): Promise<Answers>
  /** The door's side: the next questions, or the outcome. */
  next(): Promise<Asking | Outcome>
}

/** Rounds of a call that starts. `early` answers, which came with it, serve the first round if they answer all of it. */
export function createRounds(progress: Progress, early: Answers): Rounds {
  const queue: Asking[] = []
  let unused = early
  let arrived: ((asking: Asking) => void) | undefined

  return {
    passing: undefined,
    progress,
    ask(questions) {
      const given = unused
      unused = new Map()
      if (questions.every(({ key }) => given.has(key))) return Promise.resolve(given)
      return new Promise((answer) => {
        const asking: Asking = { kind: 'asking', questions, answer }
        if (arrived === undefined) queue.push(asking)
        else arrived(asking)
      })
    },
    next() {
      const first = queue.shift()
      if (first !== undefined) return Promise.resolve(first)
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
