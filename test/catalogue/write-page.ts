/**
 * Writes `docs/tools.md` and the schema of the presets file: `npm run docs`.
 * @module
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { presetsSchema } from '../../src/policy/presets.ts'
import { PRESETS, page } from './world.ts'

writeFileSync(join(import.meta.dirname, '../../docs/tools.md'), page())
writeFileSync(PRESETS.replace('.yaml', '.schema.json'), `${JSON.stringify(presetsSchema(), null, 2)}\n`)
