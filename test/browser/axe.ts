/**
 * What axe has to say of a page (WCAG 2.2 A and AA, and its best practices).
 * @module
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Violations of a page as it stands, each in one line: all rules in the light, and whether the dark can be read. */
export async function violations(page: Page): Promise<string[]> {
  const found: string[] = []
  // Put in by the debugger, which the page's own policy does not hold back.
  await page.evaluate(SOURCE)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const rules = colorScheme === 'light' ? '{}' : '{ runOnly: ["color-contrast"] }'
    const { violations: each, passes } = await page.evaluate<any>(`axe.run(${rules})`)
    if (passes.length === 0) throw new Error(`axe looked at nothing of ${page.url()}`)
    for (const { id, help, nodes } of each) {
      const where = nodes.map(({ target, failureSummary }: any) => `${target} ${failureSummary}`).join('; ')
      found.push(`${colorScheme} ${new URL(page.url()).pathname}: ${id}, ${help}: ${where}`)
    }
  }
  return found
}
