/**
 * Kills stdio upstreams, and all that they started, when the gateway itself is gone: a `kill -9` runs no clean-up code.
 * One small shell per gateway process holds the list of process groups; the end of its input is the gateway's end.
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process'
import type { Log } from './noise.ts'

/**
 * Signals meant for the gateway must not end it first. It runs in its own session, so a terminal's do not reach it.
 * `set -f`: a line is a number, never a file name pattern.
 */
const SCRIPT = `
trap '' TERM INT HUP QUIT PIPE
set -f
groups=' '
while read -r line; do
  group=\${line#?}
  case $group in ''|0|1|*[!0-9]*) continue ;; esac
  case $groups in *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;; esac
  case $line in +*) groups="$groups$group " ;; esac
done
[ "$groups" = ' ' ] && exit 0
for group in $groups; do kill -s TERM -- "-$group"; done
tries=20
while [ $tries -gt 0 ]; do
  left=' '
  for group in $groups; do kill -s 0 -- "-$group" && left="$left$group "; done
  groups=$left
  [ "$groups" = ' ' ] && exit 0
  tries=$((tries - 1))
  sleep 0.1 || sleep 1
done
for group in $groups; do kill -s KILL -- "-$group"; done
`

const RESTART_MS = 1_000

export interface Warden {
  /** From now on this process group dies with the gateway. Starts the shell at its first use. */
  watch(group: number): void
  /** The group is gone; its number may be given to somebody else. */
  forget(group: number): void
  /** Ends the shell, which kills what is still watched. */
  close(): void
}

/** One per gateway process. On Windows, which has no process groups, it does nothing. */
export function createWarden(parts: { readonly log: Log; readonly platform?: NodeJS.Platform }): Warden {
  const { log, platform = process.platform } = parts
  const groups = new Set<number>()
  let shell: ChildProcess | undefined
  let restart: NodeJS.Timeout | undefined
  let closed = false

  function start(): void {
    restart = undefined
    if (closed || shell !== undefined || groups.size === 0) return
    const started = spawn('/bin/sh', ['-c', SCRIPT], {
      cwd: '/',
      detached: true,
      env: { PATH: '/usr/bin:/bin' },
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    shell = started
    const startedAt = performance.now()
    const gone = (why: string) => {
      if (shell !== started) return
      shell = undefined
      if (closed) return
      log.warn({ why }, 'The process that kills stdio upstreams if the gateway is killed has ended; starting another.')
      // One that cannot live is not started over and over at full speed.
      restart ??= setTimeout(start, performance.now() - startedAt > RESTART_MS ? 0 : RESTART_MS).unref()
    }
    started.once('error', (error) => gone(error.message))
    started.once('exit', (code, signal) => gone(signal ?? `exit ${code}`))
    started.stdin?.on('error', () => {})
    // It must not keep the gateway running.
    started.unref()
    unref(started.stdin)
    for (const group of groups) say(`+${group}`)
  }

  function say(line: string): void {
    if (shell?.stdin?.writable) shell.stdin.write(`${line}\n`)
  }

  return {
    watch(group) {
      if (platform === 'win32' || closed || !Number.isSafeInteger(group) || group < 2) return
      groups.add(group)
      if (shell === undefined && restart === undefined) start()
      else say(`+${group}`)
    },
    forget(group) {
      if (groups.delete(group)) say(`-${group}`)
    },
    close() {
      closed = true
      clearTimeout(restart)
      shell?.stdin?.end()
    },
  }
}

/** A child's pipe is a socket, whatever its type says. */
function unref(pipe: unknown): void {
  ;(pipe as { unref?: () => void } | null)?.unref?.()
}
