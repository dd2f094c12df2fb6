/**
 * A folder of its own for one test, with a configuration file in it, and the gateway's reading of both.
 * @module
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Config, ConfigError, loadConfig } from '../../src/config/config.ts'

export interface World {
  readonly folder: string
  load(file?: string | object, env?: Record<string, string>): Config
  /** The problems, or none when it loads. */
  problems(file?: string | object, env?: Record<string, string>): readonly string[]
  remove(): void
}

export function createWorld(): World {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-config-'))
  const load: World['load'] = (file, env = {}) => {
    const name = typeof file === 'string' ? 'tollgate.yaml' : 'mcp.json'
    if (file !== undefined) {
      writeFileSync(join(folder, name), typeof file === 'string' ? file : JSON.stringify(file, null, 2))
    }
    return loadConfig({ ...(file !== undefined && { TOLLGATE_CONFIG: name }), ...env }, folder)
  }
  return {
    folder,
    load,
    problems(file, env) {
      try {
        load(file, env)
        return []
      } catch (error) {
        if (error instanceof ConfigError) return error.problems
        throw error
      }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
