/**
 * The browser of the tests: Chromium as the machine has it.
 * @module
 */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome']
const ARGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Where Chromium is: `TOLLGATE_CHROMIUM`, /usr/bin/chromium, or the first on the PATH. */
export function findChromium(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  const named = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)))
  return [process.env.TOLLGATE_CHROMIUM ?? '', '/usr/bin/chromium', ...named].find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    if (path === '') return false
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Starts it. Throws where there is none. */
export function launch(): Promise<Browser> {
  const executablePath = findChromium()
  if (executablePath === undefined) throw new Error('No Chromium was found. Install it, or set TOLLGATE_CHROMIUM.')
  return chromium.launch({ executablePath, args: ARGS })
}
