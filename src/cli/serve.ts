/**
 * `tollgate serve`, `demo` and `check`: the commands that need no running gateway.
 * @module
 */
import type { Command } from 'commander'
import { local } from './options.ts'
import { type Io, print, printJson } from './output.ts'

/** Adds all three. What they run is loaded when they run, so that other commands start at once. */
export function addServe(program: Command, io: Io, done: (code: number) => void): void {
  local(program, 'serve', 'start the gateway; what it reads from the environment is in the README').action(
    async ({ json }: { json?: true }) => {
      const { serve } = await import('../main.ts')
      const stopping = stopSignal()
      const running = await serve(io.env)
      if (json) printJson(io, { url: running.url })
      else print(io, running.banner)
      await stopping
      await running.close()
    },
  )
  local(program, 'demo', 'the whole story with real parts, in half a minute').action(
    async ({ json }: { json?: true }) => {
      const { runDemo } = await import('../demo.ts')
      const code = await runDemo(io.env)
      done(code)
      if (json) printJson(io, { ok: code === 0 })
    },
  )
  local(program, 'check', 'load configuration and policies and print what each role would get')
    .option('--offline', 'do not connect to upstreams')
    .action(async ({ json, offline }: { json?: true; offline?: true }) => {
      const { check } = await import('./check.ts')
      const { report, lines } = await check(io.env, offline === true)
      done(report.ok ? 0 : 1)
      if (json) printJson(io, report)
      else print(io, ...lines)
    })
}

/** The first SIGINT or SIGTERM; a second one ends the process where it stands. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let asked = false
    const stop = () => {
      if (asked) process.exit(130)
      asked = true
      resolve()
    }
    process.on('SIGINT', stop)
    process.on('SIGTERM', stop)
  })
}
