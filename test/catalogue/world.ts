/**
 * The shipped catalogue, policies and presets, and the page that is written from them.
 * @module
 */
import { join } from 'node:path'
import { connectors } from '../../connectors/index.ts'
import { harnesses } from '../../connectors/harnesses.ts'
import { readFile, readFolder, shippedPolicies } from '../../src/config/files.ts'
import { grantWords } from '../../src/connector/define.ts'
import { toolsPage } from '../../src/connector/tools-page.ts'
import { readPresets } from '../../src/policy/presets.ts'
import { readPolicies } from '../../src/policy/role-file.ts'

export const PRESETS = join(shippedPolicies(), 'presets.yaml')

/** The roles in the order of the seed's table. */
export const ROLES = ['person-chat', 'inbound-email', 'coworker', 'specialist', 'goal-agent', 'goal-reviewer'] as const

export function policies(sandbox = false) {
  const problems: string[] = []
  const files = readFolder(shippedPolicies(), 'the test', problems).filter(({ file }) => file !== 'presets.yaml')
  const read = readPolicies(files, { sandbox })
  if (!read.ok) throw new Error([...problems, ...read.problems].join('\n'))
  return read.policies
}

export function role(name: string, sandbox = false) {
  const found = policies(sandbox).roles.get(name)
  if (found === undefined) throw new Error(`no role ${name}`)
  return found
}

/** What a preset can name. */
export const known = () => ({ builtins: policies().builtins, ...grantWords(connectors) })

export function presets() {
  const problems: string[] = []
  const data = readFile(PRESETS, 'the test', problems)
  if (data === undefined) throw new Error(problems.join('\n'))
  const read = readPresets(data, known())
  if (!read.ok) throw new Error(read.problems.join('\n'))
  return read.presets
}

export function page(): string {
  const readOnly = policies().routes.get('read-only')
  if (readOnly === undefined) throw new Error('no read-only route')
  return toolsPage({
    roles: ROLES.map((name) => role(name)),
    readOnly,
    inSandbox: policies(true).builtins,
    catalogue: connectors,
    presets: presets(),
    harnesses,
  })
}
