/**
 * The real client: Claude Code as npm has it, run headless in an empty home against the stand-in model, with nothing of
 * this machine's own configuration.
 * @module
 */
import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const PACKAGE = '@anthropic-ai/claude-code'
export const VERSION = '2.1.332'

export interface Client {
  readonly version: string
  run(how: HowToRun): Promise<Ran>
  close(): Promise<void>
}

export interface HowToRun {
  /** As a session was issued with: written to a file and given by the command that goes with it. */
  readonly configs: any
  readonly token: string
  readonly modelUrl: string
  /** What the command gets besides. */
  readonly more?: string
  /** Files of the working folder. */
  readonly files?: Readonly<Record<string, unknown>>
  readonly env?: Readonly<Record<string, string>>
}

export interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
  /** Where it worked; gone when the client is closed. */
  readonly folder: string
}

/** Installs the client into a folder of its own (some 400 MB), or takes the program at `path`. */
export async function getClient(path: string | undefined): Promise<Client> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-claude-'))
  const program = path ?? (await install(folder))
  const bin = join(folder, 'bin')
  await mkdir(bin)
  await symlink(program, join(bin, 'claude'))
  const clean = { PATH: `${bin}:/usr/local/bin:/usr/bin:/bin`, LANG: 'C.UTF-8', TERM: 'dumb' }
  const { stdout } = await promisify(execFile)('claude', ['--version'], { env: { ...clean, HOME: folder } })
  return {
    version: stdout.trim(),
    async run({ configs, token, modelUrl, more = '', files = {}, env = {} }) {
      const home = await mkdtemp(join(folder, 'home-'))
      const cwd = join(home, 'work')
      await mkdir(cwd)
      const written = { 'gateway.mcp.json': { mcpServers: configs.claudeCode.mcpServers }, ...files }
      for (const [name, value] of Object.entries(written)) await writeFile(join(cwd, name), JSON.stringify(value))
      const command = `${configs.claudeCode.run} ${more} -p 'Play the scene.' --output-format stream-json --verbose`
      const child = spawn('/bin/sh', ['-c', `exec ${command}`], {
        cwd,
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          ...clean,
          HOME: home,
          GATEWAY_TOKEN: token,
          ANTHROPIC_BASE_URL: modelUrl,
          ANTHROPIC_API_KEY: 'not-a-key',
          DISABLE_AUTOUPDATER: '1',
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
          ...env,
        },
      })
      let out = ''
      let err = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        out += text
      })
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        err += text
      })
      const limit = setTimeout(() => child.kill('SIGKILL'), 240_000)
      const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
      clearTimeout(limit)
      return { code, out, err, folder: cwd }
    },
    close: () => rm(folder, { recursive: true, force: true }),
  }
}

/** The package brings a native program for this platform in an optional dependency. */
async function install(folder: string): Promise<string> {
  const args = ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', '--ignore-scripts']
  await promisify(execFile)('npm', [...args, `${PACKAGE}@${VERSION}`])
  const scope = join(folder, 'node_modules', '@anthropic-ai')
  for (const name of await readdir(scope)) {
    const program = join(scope, name, 'claude')
    if (name.startsWith('claude-code-') && existsSync(program)) return program
  }
  throw new Error(`${PACKAGE}@${VERSION} brought no program for this platform.`)
}
