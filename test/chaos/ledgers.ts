/**
 * Two of the three ledgers: what clients and approvers sent and saw, and what the upstream did. The third is the
 * gateway's own tables.
 * @module
 */
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** One call as its client means it, however often it has to ask for the answer. */
export interface LogicalCall {
  readonly n: number
  readonly session: number
  sent: number
  /** Requests that got no answer: their gateway was killed. */
  cut: number
  cutBy?: string | undefined
  /** Cards the gateway named to the client. */
  readonly cards: Set<string>
  /** The answer that ended it; the code is `ok` where it is the upstream's. */
  end?: { readonly code: string; readonly text: string; readonly at: number }
}

/** One execution at the upstream. */
export interface Execution {
  readonly n: number
  readonly nonce: string
  /** The replica it came from. */
  readonly from: string
  readonly at: number
  /** What the gateway's tables held at that moment, by the upstream's own look; undefined where nobody could look. */
  seen?: Seen | undefined
}

/** What is committed about a call. */
export interface Seen {
  readonly running: number
  readonly approvals: number
  readonly started: number
}

/** One decision of the third party. */
export interface Decision {
  readonly card: string
  readonly verb: 'approve' | 'deny'
  readonly at: number
  /** The HTTP status of the answer; undefined where none came. */
  status?: number
  answeredAt?: number
}

export interface Ledgers {
  readonly calls: Map<number, LogicalCall>
  readonly executions: Execution[]
  readonly decisions: Decision[]
  /** Writes an execution down so that it outlives any kill, before it is answered. */
  executed(execution: Execution): void
  /** Writes down what a client or approver sent or saw. */
  noted(line: object): void
  close(): void
}

/** Opens the ledgers as files of JSON lines in the folder. */
export function openLedgers(folder: string): Ledgers {
  const upstream = openSync(join(folder, 'upstream.jsonl'), 'a', 0o600)
  const client = openSync(join(folder, 'client.jsonl'), 'a', 0o600)
  const executions: Execution[] = []
  return {
    calls: new Map(),
    executions,
    decisions: [],
    executed(execution) {
      writeSync(upstream, `${JSON.stringify(execution)}\n`)
      fsyncSync(upstream)
      executions.push(execution)
    },
    noted: (line) => void writeSync(client, `${JSON.stringify(line)}\n`),
    close() {
      closeSync(upstream)
      closeSync(client)
    },
  }
}
