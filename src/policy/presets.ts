/**
 * The presets file: starting points for a coworker's profile. Read whole or not at all.
 * A preset gives nothing by itself: what is saved from it is checked as any other profile.
 * @module
 */
import { z } from 'zod'
import { type DataFile, problemAt, readData, strict } from './data-file.ts'
import { normalise } from './names.ts'
import { nearest } from './nearest.ts'
import type { Grant } from './words.ts'

const word = z.string().regex(/^[a-z][a-z0-9-]*$/, 'small letters, digits and dashes, as in "seo-analyst".')
const slug = z.string().regex(/^[a-z0-9]+(_[a-z0-9]+)*$/, 'a connector as its tools are named, as in "searchconsole".')
const figure = z.number().positive()
const count = (least: number) => z.int().min(least)

const limits = strict({
  runBudgetUsd: figure,
  maxTurns: count(1),
  maxConcurrentRuns: count(1),
  maxDelegationDepth: count(0),
})

const presetsFile = strict({
  presets: z
    .array(
      strict({
        preset: word,
        title: z.string().min(1),
        builtins: z.array(z.string()).describe('Tools of the harness itself, by their bare name.'),
        tools: z.array(z.string()).describe('What is asked for by name: platform, opt-in and skill-borne tools.'),
        grant: strict({
          connectors: z.array(slug).describe('Their read table comes with the grant.').optional(),
          skills: z.array(word).optional(),
          withDataSkills: z.array(word).describe('Granted skills that bring their data skills along.').optional(),
          allowance: z
            .record(
              slug,
              z.union([
                strict({ perRunCredits: figure, perDayCredits: figure }),
                strict({ perRunUsd: figure, perDayUsd: figure }),
              ]),
            )
            .optional(),
        }).optional(),
        limits: limits.partial().strict().optional(),
      }),
    )
    .min(1),
  defaults: limits.describe('What a preset gets that states no figures of its own.'),
})

type PresetsFile = z.infer<typeof presetsFile>
type Written = PresetsFile['presets'][number]

/** A profile to start from. Amounts are per run and per day, in the unit their name says. */
export interface Preset {
  readonly name: string
  readonly title: string
  readonly builtins: readonly string[]
  /** Canonical names asked for beside what the grant brings. */
  readonly tools: readonly string[]
  readonly grant: Grant
  /** Of the granted skills, those whose data skills are granted along. */
  readonly withDataSkills: readonly string[]
  readonly limits: Readonly<z.infer<typeof limits>>
}

/** What there is to name. `figures` are the allowance's two for each connector that bills. */
export interface Known {
  readonly builtins: readonly string[]
  readonly tools: readonly string[]
  readonly connectors: readonly string[]
  readonly figures: Readonly<Record<string, readonly [perRun: string, perDay: string]>>
}

/** Reads the presets, or says all that is wrong with them. */
export function readPresets(
  data: DataFile,
  known: Known,
): { readonly ok: true; readonly presets: readonly Preset[] } | { readonly ok: false; readonly problems: string[] } {
  const read = readData(presetsFile, data)
  if (!read.ok) return read
  const { presets, defaults } = read.value
  const problems = [
    ...twice(presets.map(({ preset }) => preset)).map(([i, name]) =>
      problemAt(data, ['presets', i, 'preset'], `"${name}" is a preset already; keep one.`),
    ),
    ...presets.flatMap((one, i) =>
      presetProblems(one, known).map(([path, problem]) => problemAt(data, ['presets', i, ...path], problem)),
    ),
  ]
  if (problems.length > 0) return { ok: false, problems }
  return { ok: true, presets: presets.map((one) => toPreset(one, defaults)) }
}

/** The JSON schema of the presets file, for editors; `policies/presets.schema.json` holds it. */
export function presetsSchema(): unknown {
  return z.toJSONSchema(presetsFile, { target: 'draft-7', io: 'input' })
}

/** Connectors a preset grants that bill and have no figures yet: a person must add them before it can be saved. */
export function figuresOwed(preset: Preset, known: Pick<Known, 'figures'>): string[] {
  const { connectors, allowance } = preset.grant
  return connectors.filter((one) => Object.hasOwn(known.figures, one) && !Object.hasOwn(allowance, one))
}

function toPreset(one: Written, defaults: PresetsFile['defaults']): Preset {
  const { connectors = [], skills = [], withDataSkills = [], allowance = {} } = one.grant ?? {}
  return {
    name: one.preset,
    title: one.title,
    builtins: one.builtins,
    tools: one.tools,
    grant: { connectors, skills, allowance },
    withDataSkills,
    limits: { ...defaults, ...one.limits } as Preset['limits'],
  }
}

type Problem = readonly [path: readonly PropertyKey[], problem: string]

function presetProblems(one: Written, known: Known): Problem[] {
  const { connectors = [], skills = [], withDataSkills = [], allowance = {} } = one.grant ?? {}
  return [
    ...listProblems(['builtins'], one.builtins, known.builtins, 'built-in'),
    ...listProblems(['tools'], one.tools, known.tools, 'tool'),
    ...listProblems(['grant', 'connectors'], connectors, known.connectors, 'connector'),
    ...listProblems(['grant', 'skills'], skills, skills, 'skill'),
    ...listProblems(['grant', 'withDataSkills'], withDataSkills, skills, 'granted skill'),
    ...Object.entries(allowance).flatMap(([slug, figures]): Problem[] => {
      const path = ['grant', 'allowance', slug]
      const names = Object.hasOwn(known.figures, slug) ? known.figures[slug] : undefined
      if (!connectors.includes(slug)) return [[path, `the preset does not grant ${slug}; take one of the two out.`]]
      if (names === undefined) return [[path, `${slug} does not bill, so it has no allowance.`]]
      const [run, day] = names.map((name) => (figures as Readonly<Record<string, number>>)[name])
      if (run === undefined || day === undefined) return [[path, `${slug} is counted in ${names.join(' and ')}.`]]
      return run <= day ? [] : [[path, `${names[0]} is above ${names[1]}; a run cannot have more than its day.`]]
    }),
  ]
}

function listProblems(path: string[], written: readonly string[], known: readonly string[], kind: string): Problem[] {
  const repeated = twice(written).map(([i, name]): Problem => [[...path, i], `"${name}" is listed twice; keep one.`])
  const strange = written.flatMap((name, i): Problem[] => {
    if (known.includes(name)) return []
    const right = normalise(name)
    const meant = right !== undefined && known.includes(right) ? right : nearest(name, known)
    return [[[...path, i], `no ${kind} is called "${name}"${meant === undefined ? '' : `: write ${meant}`}.`]]
  })
  return [...repeated, ...strange]
}

/** Every element that stands a second time, with its place. */
function twice(names: readonly string[]): [number, string][] {
  return names.flatMap((name, i): [number, string][] => (names.indexOf(name) < i ? [[i, name]] : []))
}
