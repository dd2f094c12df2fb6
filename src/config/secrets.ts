/**
 * The admin key and the sealing secret: from the environment, or made once and kept in the data folder for its owner alone.
 * Two processes that start at once end with the same one.
 * @module
 */
import { randomBytes } from 'node:crypto'
import { chmodSync, linkSync, mkdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Env } from './expand.ts'

/** A secret and where it came from. `generated`: made at this very start. */
export interface Secret {
  readonly value: string
  readonly source: 'env' | 'file'
  readonly path?: string
  readonly generated: boolean
}

const SHORT = 16

/** The secret in `variable`, else the one in `folder/file`, which is made when there is none. */
export function readSecret(
  env: Env,
  variable: string,
  folder: string,
  file: string,
  problems: string[],
  notices: string[],
): Secret | undefined {
  const given = env[variable]
  if (given !== undefined && given !== '') {
    if (!/^[\x21-\x7e]+$/.test(given)) {
      problems.push(`${variable} holds a blank or a character outside ASCII; make one with: openssl rand -hex 32`)
    }
    if (given.length < SHORT)
      notices.push(`${variable} has fewer than ${SHORT} characters; make a longer one with: openssl rand -hex 32`)
    return { value: given, source: 'env', generated: false }
  }
  const path = join(folder, file)
  try {
    makeFolder(folder)
    const generated = make(path)
    const value = readFileSync(path, 'utf8').trim()
    if (!/^[\x21-\x7e]+$/.test(value)) {
      problems.push(
        `${path} holds no usable ${variable}; put the old one back, or delete the file so that a new one is made.`,
      )
      return undefined
    }
    if ((statSync(path).mode & 0o077) !== 0) {
      chmodSync(path, 0o600)
      notices.push(`${path} could be read by others; its mode is 0600 again. Make a new one if others had a look.`)
    }
    return { value, source: 'file', path, generated }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'failed'
    problems.push(`${path} cannot be read or made (${code}): let this user write to ${folder}, or set ${variable}.`)
    return undefined
  }
}

/** Makes the file whole or not at all; false when it was there. */
function make(path: string): boolean {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  if (exists(path)) return false
  writeFileSync(draft, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' })
  try {
    linkSync(draft, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    unlinkSync(draft)
  }
}

/** One level at a time: `recursive` never returns where a level cannot be made and says ENOENT, as under /proc. */
function makeFolder(folder: string): void {
  if (exists(folder)) return
  makeFolder(dirname(folder))
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined
}
