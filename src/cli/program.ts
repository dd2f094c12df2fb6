/**
 * The command line: which commands there are, and how each fails.
 * @module
 */
import { Command, CommanderError } from 'commander'
import { addApprovers } from './approvers.ts'
import { addCards } from './cards.ts'
import { addConnections } from './connections.ts'
import { addDecisions } from './decide.ts'
import { addMigrate } from './migrate.ts'
import { addNew } from './new-connector.ts'
import { CliError, type Io } from './output.ts'
import { addAudit, addRotateKeys } from './records.ts'
import { addRoutines } from './routines.ts'
import { addServe } from './serve.ts'
import { addExplain, addSessions } from './sessions.ts'
import { addSpend } from './spend.ts'
import { addTools } from './tools.ts'
import { addToken } from './token.ts'
import { addWebhooks } from './webhooks.ts'

/** Runs one command line (without program names) and answers its exit code. Nothing is thrown. */
export async function runCli(args: readonly string[], io: Io): Promise<number> {
  let code = 0
  const program = new Command('tollgate')
    .description('One MCP endpoint between any agent and every tool it may reach.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      outputError: (text, write) => write(`tollgate: ${sentence(text)}\n`),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .showHelpAfterError(false)
    .helpCommand(false)
  const done = (result: number) => {
    code = result
  }
  addServe(program, io, done)
  addToken(program, io)
  addSessions(program, io)
  addCards(program, io)
  addDecisions(program, io)
  addApprovers(program, io)
  addConnections(program, io)
  addTools(program, io)
  addWebhooks(program, io)
  addRoutines(program, io)
  addExplain(program, io)
  addSpend(program, io)
  addAudit(program, io, done)
  addMigrate(program, io)
  addNew(program, io)
  addRotateKeys(program, io)
  if (args.length === 0) {
    io.stderr.write(`${program.helpInformation()}`)
    return 1
  }
  try {
    await program.parseAsync([...args], { from: 'user' })
    return code
  } catch (error) {
    return fail(error, io, args.includes('--json'))
  }
}

function fail(error: unknown, io: Io, asJson: boolean): number {
  if (error instanceof CommanderError) return error.exitCode
  const message = error instanceof Error ? error.message : String(error)
  const facts = error instanceof CliError ? error.facts : {}
  io.stderr.write(asJson ? `${JSON.stringify({ error: message, ...facts })}\n` : `tollgate: ${message}\n`)
  return 1
}

/** Commander's own words, with the way to the help that mends them. */
function sentence(text: string): string {
  const said = text
    .trim()
    .replace(/^error: /, '')
    .replace(/\n/g, ' ')
  return `${said.charAt(0).toUpperCase()}${said.slice(1)}${/[.?)]$/.test(said) ? '' : '.'} See --help.`
}
