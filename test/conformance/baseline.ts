/**
 * The files of expected failures, in the suite's own format. Each entry must say why, in a comment behind it.
 * @module
 */
import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'

/** Why a scenario, or one check of it (`scenario:check`), is expected to fail. */
export type Baseline = ReadonlyMap<string, string>

/** Reads one file; throws if an entry has no reason. */
export async function readBaseline(file: string): Promise<Baseline> {
  const text = await readFile(file, 'utf8')
  const entries = (parse(text) as { server?: string[] | null }).server ?? []
  const reasons = new Map<string, string>()
  for (const [, entry = '', reason = ''] of text.matchAll(/^ *- (\S+) +# *(.+)$/gm)) reasons.set(entry, reason.trim())
  for (const entry of entries) {
    if (!reasons.has(entry)) throw new Error(`${file}: say in a comment behind "${entry}" why it is expected to fail.`)
  }
  return new Map(entries.map((entry) => [entry, reasons.get(entry) ?? '']))
}
