/**
 * Names that fit: an upstream may call its tools anything, a client takes `[A-Za-z0-9_-]` of a limited length.
 * Different originals never get the same name, and a name is the same after every restart.
 * @module
 */
import { createHash } from 'node:crypto'
import { SLUG } from '../../policy/names.ts'

/** Longest tool name clients accept with certainty (several refuse a whole session over one longer name). */
export const NAME_LIMIT = 64
/** Longest slug of a connector, so that half of a name is left for the tool. */
export const SLUG_LIMIT = 32

const CLEAN = /^[A-Za-z0-9_-]+$/
const FITTED = /_x[0-9a-f]{10}$/

/**
 * The name under which an original goes out, at most `maxLength` characters.
 * Clean ones stay; any other is cleaned and marked with a hash of the original. A clean one that looks marked is marked
 * again, so that it cannot pose as another.
 */
export function fitName(original: string, maxLength: number): string {
  if (CLEAN.test(original) && original.length <= maxLength && !FITTED.test(original)) return original
  const mark = `_x${createHash('sha256').update(original, 'utf8').digest('hex').slice(0, 10)}`
  return cleaned(original).slice(0, maxLength - mark.length) + mark
}

/** The slug of a server's name in the configuration; the same rules, and those of `SLUG` on underscores. */
export function slugFor(name: string): string {
  if (SLUG.test(name) && name.length <= SLUG_LIMIT && !/-x[0-9a-f]{10}$/.test(name)) return name
  const mark = `-x${createHash('sha256').update(name, 'utf8').digest('hex').slice(0, 10)}`
  const body = cleaned(name)
    .replace(/_+/g, '_')
    .replace(/^[_-]+/, '')
    .slice(0, SLUG_LIMIT - mark.length)
  return `${body.replace(/[_-]+$/, '') || 'server'}${mark}`
}

const cleaned = (original: string): string => original.replace(/[^A-Za-z0-9_-]/g, '_')
