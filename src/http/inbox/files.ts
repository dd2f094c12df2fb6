/**
 * The inbox's own style, script and icon: the same for everybody, and nobody else's.
 * @module
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Hono } from 'hono'
import { STYLE } from './style.ts'
import { CARD_STYLE } from './style-card.ts'
import { WORK_STYLE } from './style-work.ts'

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#1c6152"/><path d="M8 10h16M8 16h16M8 22h9" stroke="#fff" stroke-width="2.5" stroke-linecap="round"/></svg>`
/** A page names the version it was made with, so a browser may keep it. */
const KEPT = 'public, max-age=31536000, immutable'

/** Reads them once. `version` changes with any of them. */
export function createFiles(): { readonly version: string; add(app: Hono): void } {
  const files = [
    ['inbox.css', 'text/css; charset=utf-8', STYLE + CARD_STYLE + WORK_STYLE],
    ['inbox.js', 'text/javascript; charset=utf-8', readFileSync(join(import.meta.dirname, 'browser.js'), 'utf8')],
    ['icon.svg', 'image/svg+xml', ICON],
  ] as const
  const version = createHash('sha256')
    .update(files.map(([, , text]) => text).join(''))
    .digest('hex')
    .slice(0, 12)
  return {
    version,
    add(app) {
      for (const [name, type, text] of files) {
        app.get(`/inbox/${name}`, (c) => {
          const isThis = new URL(c.req.url).search === `?${version}`
          return c.body(text, 200, { 'content-type': type, 'cache-control': isThis ? KEPT : 'no-store' })
        })
      }
    },
  }
}
