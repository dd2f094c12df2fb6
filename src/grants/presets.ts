/**
 * The presets of a policy folder, and a profile begun from one.
 * @module
 */
import { type DeclaredConnector, grantWords } from '../connector/define.ts'
import type { DataFile } from '../policy/data-file.ts'
import { type Preset, readPresets } from '../policy/presets.ts'

/**
 * Reads the presets files among the policy files, or says all that is wrong. A folder without any has no presets.
 * The built-ins a preset may name are all of the deployment file: which of them a session gets depends on where it runs.
 */
export function presetsOf(
  files: readonly DataFile[],
  catalogue: readonly DeclaredConnector[],
): { readonly ok: true; readonly presets: readonly Preset[] } | { readonly ok: false; readonly problems: string[] } {
  const has = (field: string) => (file: DataFile) => isObject(file.value) && Object.hasOwn(file.value, field)
  const deployment = files.find(has('deployment'))?.value as { builtins?: { tools?: string[] } } | undefined
  const known = { ...grantWords(catalogue), builtins: deployment?.builtins?.tools ?? [] }
  const problems: string[] = []
  const presets: Preset[] = []
  for (const file of files.filter(has('presets'))) {
    const read = readPresets(file, known)
    if (read.ok) presets.push(...read.presets)
    else problems.push(...read.problems)
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, presets }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
