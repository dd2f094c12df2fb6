/**
 * The cases of all of DataForSEO's tools.
 * @module
 */
import type { ToolCases } from '../suite.ts'
import { keywords } from './cases/keywords.ts'
import { rankings } from './cases/rankings.ts'
import { site } from './cases/site.ts'

export const tools: Readonly<Record<string, ToolCases>> = { ...keywords, ...rankings, ...site }
