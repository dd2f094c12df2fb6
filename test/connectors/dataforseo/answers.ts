/**
 * Answers of DataForSEO in its envelope, and a price list as an account has one.
 * @module
 */
import type { Answer } from '../standin.ts'
import type { Fails } from '../suite.ts'

const task = (status_code: number, status_message: string, cost: number, result: unknown) => ({
  id: '11301200-1535-0000-0000-000000000000',
  status_code,
  status_message,
  time: '0.1 sec.',
  cost,
  result_count: Array.isArray(result) ? result.length : 0,
  path: ['v3'],
  data: { api: 'a' },
  result,
})

const envelope = (cost: number, tasks: unknown[]) => ({
  version: '0.1.20261126',
  status_code: 20000,
  status_message: 'Ok.',
  time: '0.1 sec.',
  cost,
  tasks_count: tasks.length,
  tasks_error: 0,
  tasks,
})

/** A task that was done, and billed. */
export const done = (cost: number, result: unknown): Answer => ({
  json: envelope(cost, [task(20000, 'Ok.', cost, result)]),
})

/** A task that found nothing: billed, and no error. */
export const nothing = (cost: number): Answer => ({
  json: envelope(cost, [task(40102, 'No Search Results.', cost, null)]),
})

/** A task that was refused, in an envelope that says yes. */
const refused = (code: number, message: string, cost = 0): Answer => ({
  json: { ...envelope(cost, [task(code, message, cost, null)]), tasks_error: 1 },
})

/** A whole request that was refused. */
const no = (code: number, message: string, more: object = { cost: 0 }, status = 200): Answer => ({
  status,
  json: {
    version: '0.1.20261126',
    status_code: code,
    status_message: message,
    time: '0 sec.',
    tasks_count: 0,
    tasks_error: 0,
    ...more,
  },
})

const live = (...parts: readonly (readonly [kind: string, cost: number])[]) => ({
  priority_normal: parts.map(([cost_type, cost]) => ({ cost_type, cost })),
})
const labs = { live: live(['per_request', 0.012], ['per_result', 0.00012]) }

/** The price list of the tests' account, at figures of the autumn of 2026. */
const PRICES = {
  dataforseo_labs: {
    keyword_ideas: labs,
    keyword_overview: labs,
    ranked_keywords: labs,
    competitors_domain: labs,
    bulk_keyword_difficulty: labs,
    search_intent: { live: live(['per_request', 0.0012], ['per_result', 0.00012]) },
    historical_rank_overview: { live: live(['per_request', 0.12], ['per_result', 0.0012]) },
  },
  keywords_data: {
    google_ads: { search_volume: { live: live(['per_request', 0.09]) } },
    dataforseo_trends: { explore: { live: live(['per_request', 0.0012]) } },
  },
  serp: { live: { advanced: live(['per_request', 0.002]) } },
  on_page: { instant_pages: live(['per_request', 0.00015]) },
}

export const USER_DATA = 'GET /v3/appendix/user_data'

/** The account, with its price list. */
export const userData = (): Answer =>
  done(0, [
    {
      login: 'shop@example.com',
      timezone: 'Europe/Berlin',
      money: { total: 100, balance: 48.25, limits: { day: { total: 5 } }, statistics: { day: { total: 1.25 } } },
      rates: { limits: { minute: { total: 2000 } } },
      price: PRICES,
    },
  ])

/** Each documented error of a live task. */
export const failsOf = (operation: string): Record<string, Fails> => {
  const tells = (answer: Answer, code: Fails['code'], says: RegExp, facts: object = {}): Fails => ({
    answers: { [operation]: answer },
    code,
    says,
    ran: code === 'outcome_unknown' ? 'maybe' : 'no',
    facts: { vendor: 'DataForSEO', ...facts },
  })
  const account = { retryable: false }
  return {
    'a login that is refused': tells(
      no(40100, 'You are not Authorized to Access this Resource.', {}, 401),
      'upstream_unavailable',
      /401 \(40100\).*a person has to renew/,
      account,
    ),
    'a bill that cannot be paid': tells(
      no(40200, 'Payment Required.', {}, 402),
      'upstream_unavailable',
      /402 \(40200\)/,
      account,
    ),
    'no money': tells(no(40210, 'Insufficient Funds.'), 'upstream_unavailable', /\(40210\): Insufficient/, account),
    'a blocked account': tells(no(40201, 'Account blocked.'), 'upstream_unavailable', /\(40201\)/, account),
    'the account’s own limit of a day': tells(
      refused(40203, 'The cost limit has been exceeded.'),
      'upstream_unavailable',
      /\(40203\): The cost limit has been exceeded/,
      account,
    ),
    'too many in a minute': tells(
      no(40202, 'The rate-limit per minute has been exceeded.'),
      'rate_limited',
      /Wait 60 s/,
      {
        vendor_code: '40202',
        retryable: true,
        retry_after_s: 60,
      },
    ),
    'too many at once': tells(refused(40209, 'Too many simultaneous requests.'), 'rate_limited', /Wait 10 s/),
    'a field it does not take': tells(
      refused(40501, "Invalid Field: 'keywords'."),
      'invalid_arguments',
      /^DataForSEO answered 200 \(40501\): Invalid Field: 'keywords'\.$/,
      account,
    ),
    'a field it does not know': tells(refused(40506, 'Unknown Fields in POST Data.'), 'invalid_arguments', /\(40506\)/),
    'no body': tells(no(40503, 'POST Data Is Invalid.'), 'invalid_arguments', /\(40503\)/),
    'no such path': tells(no(40400, 'Not Found.', {}, 404), 'invalid_arguments', /404 \(40400\): Not Found/),
    'a search engine that fails': tells(refused(40101, 'Internal SE Error.'), 'upstream_unavailable', /\(40101\)/, {
      retryable: true,
    }),
    'a fault of the vendor that it did not bill': tells(
      no(50301, 'Third party service is not available.'),
      'upstream_unavailable',
      /\(50301\)/,
      { retryable: true },
    ),
    'a fault of the vendor that may have billed': tells(
      no(50000, 'Internal Error.', {}, 500),
      'outcome_unknown',
      /500 \(50000\)/,
    ),
    'a task that failed and was billed': tells(refused(50000, 'Internal Error.', 0.01), 'outcome_unknown', /\(50000\)/),
    'a refusal that does not say what it cost': tells(no(40501, 'Invalid Field.', {}), 'outcome_unknown', /\(40501\)/),
    'an answer that is no envelope': tells({ text: '{}' }, 'outcome_unknown', /not what it promises/),
    'an envelope without its task': tells(no(20000, 'Ok.'), 'outcome_unknown', /200/),
  }
}

/** The same of a call that bills nothing, so that nothing is in doubt. */
export const freeFails: Record<string, Fails> = Object.fromEntries(
  Object.entries(failsOf(USER_DATA)).map(([name, fails]) => [
    name,
    fails.code === 'outcome_unknown' ? { ...fails, code: codeOf(fails.says), ran: 'no' as const } : fails,
  ]),
)

function codeOf(says: RegExp): Fails['code'] {
  return says.source.includes('40501') ? 'invalid_arguments' : 'upstream_unavailable'
}
