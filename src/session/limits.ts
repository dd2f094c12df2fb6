/**
 * Whether a run may start: attempts, runs at once, the brand's live sessions, and the day's figures.
 * Pure; runs.ts counts, under a lock. Comparisons are written so that a figure nobody can read refuses.
 * @module
 */
import { covers } from '../policy/names.ts'
import type { Session } from '../policy/words.ts'
import type { SessionClaims } from './claims.ts'
import { type DayUse, figureName, RUN_USD } from './figures.ts'
import type { Broken } from './issue.ts'

/** The operator's figures. What is left away is not limited. */
export interface Caps {
  readonly liveSessionsPerBrand?: number | undefined
  /** Sessions of a role that a brand may start within an hour, such as inbound email turns. */
  readonly startsPerHour?: Readonly<Record<string, number>> | undefined
  /** What all runs of a role may cost a brand in a day, in US dollars; a brand's own smaller figure goes before it. */
  readonly dayUsd?: Readonly<Record<string, number>> | undefined
}

/** A figure that holds for a day, and what one run takes of it. */
export interface DayFigure {
  /** As in `firecrawl.perDayCredits`. */
  readonly name: string
  /** The per-run figure that is summed. */
  readonly figure: string
  readonly perRun: number
  readonly perDay: number
}

/**
 * The day's figures that a run must fit in; `roleUsd` is what all runs of its role may cost the brand in a day. Without a
 * per-run figure a run may take the day's, so it counts for it.
 */
export function dayFigures(
  { grant, limits, role }: Pick<Session, 'grant' | 'limits' | 'role'>,
  roleUsd: number | undefined,
) {
  const figures: DayFigure[] = []
  for (const [connector, allowance] of Object.entries(grant.allowance)) {
    for (const [day, perDay] of Object.entries(allowance)) {
      if (!day.startsWith('perDay')) continue
      const run = day.replace('perDay', 'perRun')
      const figure = figureName(connector, run)
      figures.push({ name: figureName(connector, day), figure, perRun: allowance[run] ?? perDay, perDay })
    }
  }
  if (roleUsd !== undefined) {
    const perRun = limits.runUsd ?? roleUsd
    figures.push({ name: `${role.name} dollars per day`, figure: RUN_USD, perRun, perDay: roleUsd })
  }
  return figures
}

/**
 * How many runs of the same may live at once. A role's usual figure is what a profile gets that states none, so it
 * binds nobody who has no profile.
 */
export function runsAtOnce(session: Session, claims: SessionClaims, coworker: string | undefined): number | undefined {
  const stated = claims.limits.concurrentRuns !== undefined || coworker !== undefined
  return stated || session.role.limitsAre !== 'usual' ? session.limits.concurrentRuns : undefined
}

/** What is counted before a run starts. */
export interface Tally {
  readonly liveInBrand: number
  /** Live runs of the same profile, or of the same role without one. */
  readonly liveRuns: number
  /** Sessions of the role that the brand started within the last hour. */
  readonly startedThisHour: number
  readonly day: readonly (DayFigure & DayUse)[]
}

/** Every limit that one more run would break. */
export function startProblems(role: string, atOnce: number | undefined, tally: Tally, caps: Caps): Broken[] {
  const broken: Broken[] = []
  const say = (path: string, rule: string, detail: string) => broken.push({ path, rule, detail })
  const brandMost = caps.liveSessionsPerBrand
  if (brandMost !== undefined && !(tally.liveInBrand < brandMost)) {
    const detail = `The brand has ${tally.liveInBrand} live sessions, and ${brandMost} is the most; end one.`
    say('brand', 'live_sessions_per_brand', detail)
  }
  if (atOnce !== undefined && !(tally.liveRuns < atOnce)) {
    const detail = `${tally.liveRuns} of at most ${atOnce} runs at once are live; wait until one has ended, or end it.`
    say('limits.concurrentRuns', 'concurrent_runs', detail)
  }
  const hourMost = caps.startsPerHour?.[role]
  if (hourMost !== undefined && !(tally.startedThisHour < hourMost)) {
    const detail = `${tally.startedThisHour} ${role} sessions started within the hour, and ${hourMost} is the most; wait.`
    say('role', 'starts_per_hour', detail)
  }
  for (const { name, perRun, perDay, used, fits } of tally.day) {
    if (fits === true) continue
    const detail = `${name} is ${perDay}; today's runs count for ${used}, and this one could use ${perRun}. Start it tomorrow, or raise the figure.`
    say('grant.allowance', 'day_figure', detail)
  }
  return broken
}

/** An attempt that is to be followed by another. */
export interface Earlier {
  readonly id: string
  readonly brand: string
  readonly role: string
  readonly coworker: string | null
  readonly parent: string | null
  readonly attempt: number
  readonly live: boolean
  /** Whether a retry of it exists. */
  readonly retried: boolean
  /** What it held when it was issued, or its ceiling where that was not kept. */
  readonly ran: readonly string[]
}

/** Every reason why a run cannot be the retry of an earlier one. */
export function retryProblems(
  earlier: Earlier | undefined,
  run: { readonly brand: string; readonly role: string; readonly coworker: string | undefined },
  attempts: number | undefined,
): Broken[] {
  const broken: Broken[] = []
  const say = (rule: string, detail: string) => broken.push({ path: 'retryOf', rule, detail })
  if (earlier === undefined || earlier.brand !== run.brand) {
    say('unknown_session', `The brand ${run.brand} has no session of this id to retry; leave retryOf out.`)
    return broken
  }
  if (earlier.role !== run.role || earlier.coworker !== (run.coworker ?? null)) {
    say('other_run', 'A retry is of the same role and coworker as the attempt before it.')
  }
  if (earlier.parent !== null) say('delegated', 'A delegated session is not retried; its parent delegates again.')
  if (earlier.live) say('still_live', 'The attempt before is still live; end it first.')
  if (earlier.retried) say('retried', 'This attempt was retried already; retry the latest one.')
  const most = attempts ?? 1
  if (!(earlier.attempt < most)) {
    say('attempts', `This would be attempt ${earlier.attempt + 1}, and the run has ${most}; start a new run.`)
  }
  return broken
}

/** What two lists of names and patterns both allow. */
export function meet(a: readonly string[], b: readonly string[]): string[] {
  const within = (names: readonly string[], others: readonly string[]) =>
    names.filter((name) => others.some((pattern) => covers(pattern, name)))
  return [...new Set([...within(a, b), ...within(b, a)])]
}
