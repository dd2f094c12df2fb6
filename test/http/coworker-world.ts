/**
 * The REST API with the shipped presets, and connectors that live in this process and stand for declared ones.
 */
import { bundledSkills } from '../../connectors/bundled-skills.ts'
import { connectors as catalogue } from '../../connectors/index.ts'
import { readFolder, shippedPolicies } from '../../src/config/files.ts'
import type { GrantSupply } from '../../src/grants/profile.ts'
import { presetsOf } from '../../src/grants/presets.ts'

/** What app.ts hands to the routes of coworkers. */
export function grantSupply(): GrantSupply {
  const read = presetsOf(readFolder(shippedPolicies(), '', []), catalogue)
  if (!read.ok) throw new Error(read.problems.join('\n'))
  return { catalogue, skills: bundledSkills, presets: read.presets }
}
