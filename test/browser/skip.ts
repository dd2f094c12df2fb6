/**
 * Tests that need a browser run where there is one, and say why where they do not.
 * @module
 */
import { describe } from 'vitest'
import { findChromium } from './chromium.ts'

const isThere = findChromium() !== undefined
if (!isThere) console.warn('Skipped, since there is no Chromium here: install it, or name it in TOLLGATE_CHROMIUM.')

/** `describe`, for tests in a browser. */
export const inBrowser = describe.skipIf(!isThere)
