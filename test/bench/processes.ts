/**
 * Starts the bench's programs, talks with them, and stops them all.
 * @module
 */
import { type ChildProcess, fork } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { PARAMETERS } from './programs/child.ts'

/** A program that runs. */
export interface Program {
  readonly pid: number
  /** What it said when it was ready. */
  readonly facts: any
  /** Has it collect its garbage. */
  collect(): Promise<void>
}

export interface Processes {
  /** Starts a program of `programs/` and waits until it is ready; `given` are its parameters, `nodeArguments` Node's. */
  run(program: string, given?: unknown, env?: NodeJS.ProcessEnv, nodeArguments?: readonly string[]): Promise<Program>
  /** Stops all, those started last first, so that no gateway loses its database before it has ended. */
  stop(): Promise<void>
}

const START_MS = 120_000
const ANSWER_MS = 30_000
const STOP_MS = 10_000

/** Programs write what they have to say into files in `folder`. */
export function createProcesses(folder: string): Processes {
  const children: ChildProcess[] = []
  return {
    async run(program, given = {}, env = {}, nodeArguments = []) {
      const logFile = join(folder, `${program}-${children.length}.log`)
      const log = openSync(logFile, 'w')
      const child = fork(new URL(`programs/${program}.ts`, import.meta.url), [], {
        execArgv: ['--expose-gc', ...nodeArguments],
        env: { PATH: process.env.PATH, HOME: process.env.HOME, [PARAMETERS]: JSON.stringify(given), ...env },
        stdio: ['ignore', log, log, 'ipc'],
      })
      closeSync(log)
      children.push(child)
      const facts = await heard(child, 'ready', START_MS).catch((problem: Error) => {
        throw new Error(`${program} did not start: ${problem.message}\n${readFileSync(logFile, 'utf8').slice(-2_000)}`)
      })
      return {
        pid: child.pid as number,
        facts,
        async collect() {
          const collected = heard(child, 'collected', ANSWER_MS)
          child.send('collect')
          await collected
        },
      }
    },
    async stop() {
      for (const child of children.toReversed()) await end(child)
    },
  }
}

/** What the child says under `key`. */
function heard(child: ChildProcess, key: string, ms: number): Promise<any> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void): void => {
      clearTimeout(timer)
      child.off('exit', ended)
      child.off('message', hear)
      act()
    }
    const ended = (): void => settle(() => reject(new Error('it ended.')))
    const hear = (message: object): void => {
      if (key in message) settle(() => resolve((message as Record<string, unknown>)[key]))
    }
    const timer = setTimeout(() => settle(() => reject(new Error(`nothing heard for ${ms / 1000} s.`))), ms)
    child.on('exit', ended)
    child.on('message', hear)
  })
}

function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
    child.once('exit', () => {
      clearTimeout(timer)
      resolve()
    })
    child.kill('SIGTERM')
  })
}

/** A port nobody listens on right now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.on('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => resolve(port))
    })
  })
}
