#!/usr/bin/env node
/**
 * The `tollgate` program.
 * @module
 */
import { runCli } from './cli/program.ts'

// A reader that closes its end early (`| head`) is no failure of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})

process.exitCode = await runCli(process.argv.slice(2), process)
