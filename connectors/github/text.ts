/**
 * Texts and lists of GitHub as a model is given them, and as a card says them.
 * @module
 */
import { z } from 'zod'
import type { Reply } from '../../src/connector/native/kit.ts'

/** A long text with a mark where it was cut. GitHub says null for an empty one. */
export function cut(text: string | null | undefined, most: number): string {
  const whole = text ?? ''
  return whole.length <= most ? whole : `${whole.slice(0, most)}\n[cut: ${whole.length} characters in all]`
}

/** Arguments of a list. */
export const paging = {
  page: z.int().min(1).max(10_000).default(1).describe('Give nextPage of the answer before to go on.'),
  perPage: z.int().min(1).max(100).default(30),
}

/** As GitHub spells them. */
export const pageQuery = ({ page, perPage }: { page: number; perPage: number }) => ({ per_page: perPage, page })

/** The number of the next page where there is one. The address that `Link` gives is never followed. */
export function nextPage({ headers }: Pick<Reply<unknown>, 'headers'>, page: number): number | undefined {
  return /;\s*rel="?next"?/.test(headers.link ?? '') ? page + 1 : undefined
}

/** 812 B, 1.2 kB, 3.4 MB. */
export function sizeText(bytes: number): string {
  const [unit, by] = bytes < 1_000 ? ['B', 1] : bytes < 1_000_000 ? ['kB', 1_000] : ['MB', 1_000_000]
  return `${Math.round((bytes / Number(by)) * 10) / 10} ${unit}`
}

/** The beginning of the first line, in quotes. */
export function quoted(text: string, most: number): string {
  const [first = ''] = text.trim().split(/\r?\n/)
  return `“${first.length > most ? `${first.slice(0, most - 1)}…` : first}”`
}

/** `a, b and 3 more`: as many as fit in `room` characters. */
export function listText(items: readonly string[], room: number): string {
  const shown: string[] = []
  let length = ' and 100 more'.length
  for (const item of items) {
    length += item.length + 2
    if (length > room) break
    shown.push(item)
  }
  const rest = items.length - shown.length
  if (shown.length === 0) return `${rest} in all`
  return `${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

/** A person on GitHub, or nobody (a deleted account). */
export interface User {
  readonly login?: string
}
