/**
 * The version of this program, as its package says.
 * @module
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** From package.json, which lies above both `src` and a built `dist/src`. */
export const VERSION: string = readVersion(import.meta.dirname)

function readVersion(folder: string): string {
  try {
    const read = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }
    return read.version
  } catch {
    const above = join(folder, '..')
    if (above === folder) return '0.0.0'
    return readVersion(above)
  }
}
