/**
 * What is given of the vendor's rows: the figures people ask for, and none of its bookkeeping.
 * @module
 */

/** A month's figure, in the vendor's words. */
interface Month {
  readonly year?: number
  readonly month?: number
  readonly search_volume?: number | null
}

export interface KeywordData {
  readonly keyword?: string
  readonly keyword_info?: {
    readonly search_volume?: number | null
    readonly cpc?: number | null
    readonly competition?: number | null
    readonly competition_level?: string | null
    readonly monthly_searches?: readonly Month[] | null
  } | null
  readonly keyword_properties?: { readonly keyword_difficulty?: number | null } | null
  readonly search_intent_info?: { readonly main_intent?: string | null } | null
  readonly serp_info?: {
    readonly serp_item_types?: readonly string[] | null
    readonly se_results_count?: number | null
  } | null
  readonly avg_backlinks_info?: { readonly backlinks?: number; readonly referring_domains?: number } | null
}

export type Metrics = Readonly<Record<string, Readonly<Record<string, unknown>> | null>> | null

/** A keyword with its figures. */
export function keywordRow(data: KeywordData | undefined, monthly: boolean) {
  const { search_volume, cpc, competition, competition_level, monthly_searches } = data?.keyword_info ?? {}
  return {
    keyword: data?.keyword,
    volume: search_volume,
    cpc,
    competition,
    competitionLevel: competition_level,
    difficulty: data?.keyword_properties?.keyword_difficulty,
    intent: data?.search_intent_info?.main_intent,
    ...(monthly && { monthly: months(monthly_searches) }),
  }
}

/** The last twelve months by name: `{"2026-10": 1300}`. */
export function months(list: readonly Month[] | null | undefined): Record<string, number | null | undefined> {
  const named = (list ?? []).map(({ year, month, search_volume }) => [monthName(year, month), search_volume] as const)
  return Object.fromEntries(named.sort(([a], [b]) => (a < b ? 1 : -1)).slice(0, 12))
}

export const monthName = (year = 0, month = 0): string => `${year}-${String(month).padStart(2, '0')}`

const POSITIONS = 'pos_1 pos_2_3 pos_4_10 pos_11_20 pos_21_30 count etv estimated_paid_traffic_cost'.split(' ')

/** How often a domain stands where among the organic results, and what that is worth. */
export function organic(metrics: Metrics | undefined): Record<string, unknown> | undefined {
  const found = metrics?.organic
  return found == null ? undefined : Object.fromEntries(POSITIONS.map((name) => [name, found[name]]))
}
