/**
 * The files the gateway starts from: one text, or a folder of policy files.
 * @module
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { DataFile } from '../policy/data-file.ts'
import { readText } from './data.ts'

/** Reads one YAML or JSON file; `why` names what asked for it. */
export function readFile(path: string, why: string, problems: string[]): DataFile | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    problems.push(
      code === 'ENOENT'
        ? `${why} names ${path}, which is not there; correct the path.`
        : `${why} names ${path}, which cannot be read (${code ?? 'failed'}); it must be a file this user may read.`,
    )
    return undefined
  }
  const read = readText(text, basename(path))
  if (read.ok) return read.data
  problems.push(...read.problems)
  return undefined
}

/** Reads every `.yaml` and `.yml` of a folder, by name. */
export function readFolder(folder: string, why: string, problems: string[]): DataFile[] {
  try {
    const names = readdirSync(folder).filter((name) => /\.ya?ml$/.test(name))
    return names.sort().flatMap((name) => readFile(join(folder, name), why, problems) ?? [])
  } catch (error) {
    problems.push(
      `${why} names ${folder}, which is not a folder that can be read (${(error as NodeJS.ErrnoException).code ?? 'failed'}).`,
    )
    return []
  }
}

/** Where the shipped policy files are, seen from the sources and from a build. */
export function shippedPolicies(): string {
  const places = ['../../policies', '../../../policies'].map((place) => fileURLToPath(new URL(place, import.meta.url)))
  return places.find((place) => existsSync(join(place, 'deployment.yaml'))) ?? places[0]!
}
