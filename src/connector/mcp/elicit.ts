/**
 * An upstream's questions to the person at the client's end: who asks is made plain, and a page to open must be the
 * upstream's own. An answer is never an approval.
 * @module
 */
import { join, members, parse } from '../../json.ts'
import type { Question, UpstreamCall } from '../connector.ts'

export interface Asking {
  readonly slug: string
  /** Hosts whose pages a person may be sent to. */
  readonly hosts: readonly string[]
}

const DECLINED = '{"action":"decline"}'
const CANCELLED = '{"action":"cancel"}'

/**
 * Puts a round of `elicitation/create` params before the caller's person and gives back ElicitResults by key.
 * What may not be asked is declined; what was not answered is missing. Never rejects.
 */
export async function askPerson(
  questions: readonly Question[],
  call: UpstreamCall,
  asking: Asking,
): Promise<ReadonlyMap<string, string>> {
  const answers = new Map<string, string>()
  const asked: Question[] = []
  for (const { key, paramsText } of questions) {
    const shown = shownQuestion(paramsText, call, asking)
    if (shown === undefined) answers.set(key, DECLINED)
    else asked.push({ key, paramsText: shown })
  }
  if (asked.length === 0) return answers
  try {
    const given = await call.ask(asked)
    for (const { key } of asked) {
      const text = given.get(key)
      if (text !== undefined) answers.set(key, cleanAnswer(text))
    }
  } catch {
    for (const { key } of asked) answers.set(key, CANCELLED)
  }
  return answers
}

/** What a modern upstream's `input_required` result holds. */
export interface Inputs {
  readonly questions: readonly Question[]
  /** JSON text of `requestState`, to be given back as it is. */
  readonly stateText: string | undefined
}

/** What an `input_required` result asks; undefined when anything in it is no question to a person. */
export function readInputs(text: string): Inputs | undefined {
  const result = members(text)?.get('result')
  const spans = result && members(text, result.start)
  if (spans === undefined) return undefined
  const state = spans.get('requestState')
  const requests = spans.get('inputRequests')
  if (state === undefined && requests === undefined) return undefined
  const asked = requests === undefined ? new Map() : members(text, requests.start)
  if (asked === undefined) return undefined
  const questions: Question[] = []
  for (const [key, { start }] of asked) {
    const request = members(text, start)
    const method = request?.get('method')
    const params = request?.get('params')
    if (method === undefined || params === undefined) return undefined
    if (parse(text.slice(method.start, method.end)) !== 'elicitation/create') return undefined
    questions.push({ key, paramsText: text.slice(params.start, params.end) })
  }
  return { questions, stateText: state && text.slice(state.start, state.end) }
}

/** The question as the person sees it; undefined when it may not be asked. */
function shownQuestion(text: string, call: UpstreamCall, { slug, hosts }: Asking): string | undefined {
  const spans = membersOr(text)
  if (spans === undefined) return undefined
  const { mode = 'form', message, url } = parse(text) as { mode?: unknown; message?: unknown; url?: unknown }
  const allowed =
    mode === 'form' ? call.elicitation.form : mode === 'url' && call.elicitation.url && isOwnPage(url, hosts)
  if (!allowed || typeof message !== 'string') return undefined
  const rest = join(text, spans, (key) => key === 'message' || key === '_meta')
  return `{"message":${JSON.stringify(`[${slug}] ${message}`)}${rest === '' ? '' : `,${rest}`}}`
}

/** Action and content of what the client said, and nothing else of it. */
function cleanAnswer(text: string): string {
  const spans = membersOr(text)
  if (spans === undefined) return CANCELLED
  const { action } = parse(text) as { action?: unknown }
  const content = spans.get('content')
  if (action === 'decline') return DECLINED
  if (action !== 'accept') return CANCELLED
  return content === undefined
    ? '{"action":"accept"}'
    : `{"action":"accept","content":${text.slice(content.start, content.end)}}`
}

/** The members of a text that may not even be JSON; undefined when it is no object, or one that names a key twice. */
function membersOr(text: string): ReturnType<typeof members> {
  try {
    parse(text)
    return members(text)
  } catch {
    return undefined
  }
}

function isOwnPage(url: unknown, hosts: readonly string[]): boolean {
  const page = typeof url === 'string' ? URL.parse(url) : null
  if (page === null || page.username !== '' || page.password !== '') return false
  return (page.protocol === 'https:' || page.protocol === 'http:') && hosts.includes(page.hostname)
}
