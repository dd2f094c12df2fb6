/**
 * From the body of a save to the profile it describes. Pure.
 * @module
 */
import type { z } from '@hono/zod-openapi'
import { isEmptyGrant, NO_GRANT, type Profile, USUAL_LIMITS } from '../../grants/profile.ts'
import { nearest } from '../../policy/nearest.ts'
import type { Preset } from '../../policy/presets.ts'
import type { BrokenRule } from '../problem.ts'
import type { coworkerBody } from './coworker-schemas.ts'
import { given } from './requests.ts'

/** The profile a body describes: what it says, else what its preset says, else the usual figures. */
export function draft(
  id: string,
  asked: z.output<typeof coworkerBody>,
  presets: readonly Preset[],
  ownerBrand: string,
): { readonly profile: Profile } | { readonly broken: readonly BrokenRule[] } {
  const preset = presets.find(({ name }) => name === asked.preset)
  if (asked.preset !== undefined && preset === undefined) {
    const names = presets.map(({ name }) => name)
    const meant = nearest(asked.preset, names)
    const hint = meant === undefined ? `the presets are ${names.join(', ') || 'none'}.` : `did you mean ${meant}?`
    const detail = `There is no preset ${JSON.stringify(asked.preset)}; ${hint}`
    return { broken: [{ path: 'preset', rule: 'unknown_preset', detail }] }
  }
  const name = asked.name ?? preset?.title
  const tools = asked.tools ?? (preset && [...preset.builtins, ...preset.tools])
  if (name === undefined || tools === undefined) {
    const missing: [string, unknown, string][] = [
      ['name', name, 'name is missing; say what people call this coworker.'],
      ['tools', tools, 'tools is missing; list what it asks for, or name a preset.'],
    ]
    return {
      broken: missing.flatMap(([path, value, detail]) =>
        value === undefined ? [{ path, rule: 'missing', detail }] : [],
      ),
    }
  }
  const grant = asked.grant ?? preset?.grant ?? NO_GRANT
  const role = asked.role ?? (isEmptyGrant(grant) ? 'coworker' : 'specialist')
  const limits = { ...USUAL_LIMITS, ...preset?.limits, ...given(asked.limits ?? {}) }
  return { profile: { brand: asked.brand ?? ownerBrand, id, name, role, tools, grant, limits } }
}
