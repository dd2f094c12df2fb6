/**
 * One child process in a process group of its own: its start, its pipes, and an end that leaves nothing behind.
 * @module
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Warden } from './warden.ts'

/** How long an ending process has: from the end of its input to SIGTERM, from there to SIGKILL, from there to giving up. */
const PATIENCE_MS = 2_000
const TERM_MS = 5_000
const KILL_MS = 1_000
const LOOK_MS = 25
/** How long what an ended process wrote may still take to arrive; a grandchild can hold the pipe open. */
const DRAIN_MS = 500
const DRAIN_LOOKS = 10

/** What to run. No shell reads it. */
export interface Command {
  readonly command: string
  readonly args: readonly string[]
  /** The whole environment. */
  readonly environment: Readonly<Record<string, string>>
  readonly cwd: string | undefined
}

export interface ChildEvents {
  onOutput(chunk: Buffer): void
  onErrorOutput(chunk: Buffer): void
  /** The input takes more again. */
  onDrain(): void
  /** Called once, after the last output. `started` is false when the command never ran. The reason is a sentence. */
  onGone(reason: string, started: boolean): void
}

export interface Child {
  /** Writes; false when the pipe is full and `onDrain` will tell, undefined when it takes nothing (any more). */
  write(text: string): boolean | undefined
  /** Ends the child and all its group. Resolves when none is left. */
  end(): Promise<void>
}

/** Starts the command. What goes wrong is told to `onGone`, never thrown. */
export function startChild(command: Command, events: ChildEvents, warden: Warden): Child {
  const child = spawnOrError(command)
  if (child instanceof Error || child.pid === undefined) {
    const tell = (error: Error) => events.onGone(whyNot(command, error), false)
    if (child instanceof Error) queueMicrotask(() => tell(child))
    else child.once('error', tell)
    return { write: () => undefined, end: async () => {} }
  }
  const started = child
  const group = child.pid
  warden.watch(group)

  let told = false
  let soon: NodeJS.Timeout | undefined
  let ending: Promise<void> | undefined
  let heardAt = 0

  function gone(reason: string): void {
    if (told) return
    told = true
    clearTimeout(soon)
    // Somebody outside the group may still hold the other ends.
    for (const pipe of [started.stdin, started.stdout, started.stderr]) pipe.destroy()
    events.onGone(exitReason(started) ?? reason, true)
    void end()
  }
  /** Something ended: `close` says when all has been read, unless a grandchild holds the pipe open. */
  function goneSoon(reason: string, looks = DRAIN_LOOKS): void {
    soon ??= setTimeout(() => {
      soon = undefined
      if (looks > 0 && performance.now() - heardAt < DRAIN_MS) goneSoon(reason, looks - 1)
      else gone(reason)
    }, DRAIN_MS)
  }
  function end(): Promise<void> {
    ending ??= bury(started, group, warden)
    return ending
  }

  started.stdout.on('data', (chunk: Buffer) => {
    heardAt = performance.now()
    events.onOutput(chunk)
  })
  started.stderr.on('data', events.onErrorOutput)
  started.stdin.on('drain', events.onDrain)
  started.stdin.on('error', () => goneSoon('The process closed its input.'))
  started.stdout.on('error', () => goneSoon('The output of the process cannot be read.'))
  started.stderr.on('error', () => {})
  started.stdout.once('end', () => goneSoon('The process closed its output.'))
  started.on('error', () => {})
  started.once('exit', () => {
    void end()
    goneSoon('The process ended.')
  })
  started.once('close', () => gone('The process ended.'))

  return { write: (text) => (started.stdin.writable ? started.stdin.write(text) : undefined), end }
}

function spawnOrError({ command, args, environment, cwd }: Command): ChildProcessWithoutNullStreams | Error {
  try {
    return spawn(command, args, {
      ...(cwd === undefined ? {} : { cwd }),
      env: environment,
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      windowsHide: true,
    })
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

/** The sentence that mends it. */
function whyNot({ command, cwd }: Command, error: Error): string {
  const code = (error as NodeJS.ErrnoException).code
  const name = JSON.stringify(command.slice(0, 200))
  if (code === 'ENOENT' && cwd !== undefined && !existsSync(cwd)) {
    return `The folder ${JSON.stringify(cwd.slice(0, 200))} to start ${name} in does not exist.`
  }
  if (code === 'ENOENT') return `The command ${name} was not found: install it, or give its full path.`
  if (code === 'EACCES') return `The command ${name} may not be run: it, or the folder to start it in, forbids it.`
  return `The command ${name} could not be started (${code ?? error.message.slice(0, 200)}).`
}

function exitReason(child: ChildProcessWithoutNullStreams): string | undefined {
  if (child.signalCode !== null) return `The process was ended by ${child.signalCode}.`
  return child.exitCode === null ? undefined : `The process ended with exit code ${child.exitCode}.`
}

/** End of input, then SIGTERM, then SIGKILL, to the whole group; each only while somebody is left. */
async function bury(child: ChildProcessWithoutNullStreams, group: number, warden: Warden): Promise<void> {
  const exited = () => child.exitCode !== null || child.signalCode !== null
  const empty = () => exited() && !signal(child, group, 0)
  child.stdin.end()
  // A child that ends by itself has ended what it cares for; what it left behind is not waited for.
  await until(exited, PATIENCE_MS)
  if (!empty()) {
    signal(child, group, 'SIGTERM')
    await until(empty, TERM_MS)
  }
  if (!empty()) {
    signal(child, group, 'SIGKILL')
    await until(empty, KILL_MS)
  }
  // Also where dead members still wait to be reaped: after SIGKILL the warden has nothing to add.
  warden.forget(group)
}

/** Signals the group; whether anybody was there to get it. */
function signal(child: ChildProcessWithoutNullStreams, group: number, name: NodeJS.Signals | 0): boolean {
  if (process.platform === 'win32') return name !== 0 && child.kill(name)
  try {
    return process.kill(-group, name)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

async function until(done: () => boolean, withinMs: number): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!done() && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
}
