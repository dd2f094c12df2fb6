/**
 * One `tools/call` on its way to an upstream and back. It is sent once: again only when the answer proves that the tool
 * did not run (a lost session), or when the upstream asked for input and the call goes on with it.
 * @module
 */
import { join, members } from '../../json.ts'
import type { Answer, Question, Running, UpstreamCall } from '../connector.ts'
import { failed, failureOf, lostSession, metaMembers, readError, readResult, unreadable } from './answer.ts'
import { type Asking, askPerson, type Inputs, readInputs } from './elicit.ts'
import { errorText, list, modernMeta, noticeText, requestText, resultText } from './envelope.ts'
import { hold, idText, type Link, refuseRequest, release } from './link.ts'
import { answers, isClear, type Message, methodOf, progressOf, readMessages } from './message.ts'
import type { Mirror } from './mirror.ts'
import type { Sessions } from './sessions.ts'
import type { Snip } from './snippet.ts'
import type { Exchange, WireProblem } from './wire.ts'

/** Most times an upstream may ask for input within one call. */
const MOST_ROUNDS = 8
/** An upstream that only wants to be asked again waits this long for it (ms). */
const PAUSE_MS = 250

export interface CallParts {
  readonly sessions: Sessions
  readonly asking: Asking
  readonly snip: Snip
  readonly mirror: Mirror
  /** How long the upstream may be silent, and how long a call may take in all (ms). */
  readonly timeoutMs: number
  readonly maxTimeoutMs: number
  /** Told of each problem that may mean more than this one call. */
  readonly onTrouble: (problem: WireProblem) => void
}

/** Sends a call and follows it to its end. */
export function runCall(parts: CallParts, call: UpstreamCall): Running {
  const live = new LiveCall(parts, call)
  live.start()
  return live
}

/** A call under way: it holds a timer and an exchange until it is settled. */
class LiveCall implements Running, Exchange {
  readonly answer: Promise<Answer>
  readonly #parts: CallParts
  readonly #call: UpstreamCall
  #resolve!: (answer: Answer) => void
  #settled = false
  #timer: NodeJS.Timeout | undefined
  #startedAt = 0
  #heardAt = 0
  #link: Link | undefined
  #id = 0
  #drop: (() => void) | undefined
  /** The request under way has its answer; what still comes for it does not count. */
  #answered = false
  #rounds = 0
  #renewed = false
  /** Questions a person is thinking about; that time is not the upstream's. */
  #asking = 0
  readonly #asker = (message: Message): void => void this.#question(message)

  constructor(parts: CallParts, call: UpstreamCall) {
    this.#parts = parts
    this.#call = call
    this.answer = new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  start(): void {
    this.#startedAt = this.#heardAt = Date.now()
    this.#timer = setTimeout(() => this.#tick(), this.#parts.timeoutMs)
    const link = this.#parts.sessions.linkFor(this.#call)
    if (link instanceof Promise) void link.then((found) => this.#begin(found))
    else this.#begin(link)
  }

  cancel(reason: string): void {
    this.#abandon('The caller cancelled the call.')
    this.#settle(failed('outcome_unknown', `The call was cancelled: ${reason}`, this.#ran()))
  }

  onMessage(message: Message): void {
    if (this.#settled || this.#answered) return
    if (answers(message, this.#id)) {
      this.#answered = true
      return this.#read(message)
    }
    const method = methodOf(message)
    if (method === 'notifications/progress') this.#progress(message)
    else if (method === 'elicitation/create' && this.#canAsk()) void this.#question(message)
    else if (this.#link !== undefined) refuseRequest(this.#link.wire, message)
  }

  onEnd(problem: WireProblem | undefined): void {
    if (this.#settled || this.#answered) return
    this.#answered = true
    if (problem === undefined) return this.#settle(failed('outcome_unknown', 'It ended without an answer.', 'maybe'))
    const lost = this.#link === undefined ? 'no' : lostSession(this.#link, { problem })
    if (lost !== 'no') return this.#renew(lost === 'before', failureOf(problem))
    this.#parts.onTrouble(problem)
    this.#settle(this.#refusalByBody(problem) ?? failureOf(problem))
  }

  #begin(link: Link | string): void {
    if (this.#settled) return
    if (typeof link === 'string') return this.#settle(failed('upstream_unavailable', link, 'no'))
    this.#send(link, '')
  }

  #send(link: Link, more: string): void {
    if (this.#link !== link) {
      this.#letGo()
      hold(link)
      this.#link = link
      if (link.modes.form || link.modes.url) link.askers.add(this.#asker)
    }
    this.#id = link.nextId()
    this.#answered = false
    const { tool, argumentsText } = this.#call
    const text = callText(link, this.#id, this.#call, more)
    const headers = link.agreement?.era === 'modern' ? this.#parts.mirror(tool, argumentsText) : []
    this.#drop = link.wire.request({ id: this.#id, text, method: 'tools/call', name: tool.upstreamName, headers }, this)
  }

  #read(message: Message): void {
    try {
      if ('error' in message.value) return this.#readError(message)
      const { result } = message.value
      if (typeof result !== 'object' || result === null || Array.isArray(result))
        return this.#settle(unreadable(this.#parts.snip(message.text)))
      const { resultType } = result as { resultType?: unknown }
      if (resultType === undefined || resultType === 'complete') return this.#settle(readResult(message))
      if (resultType === 'input_required' && this.#link?.agreement?.era === 'modern')
        return void this.#answerInputs(isClear(message.text) ? readInputs(message.text) : undefined)
      const type = this.#parts.snip(String(resultType))
      this.#settle(
        failed(
          'outcome_unknown',
          `It answered with a result of the type "${type}", which this gateway did not ask for.`,
          'maybe',
        ),
      )
    } catch {
      // A key given twice: the text has no one meaning.
      this.#settle(unreadable(this.#parts.snip(message.text)))
    }
  }

  #readError(message: Message): void {
    const answer = readError(message, this.#parts.snip)
    if (this.#link !== undefined && lostSession(this.#link, { message }) !== 'no') return this.#renew(true, answer)
    this.#settle(answer)
  }

  /** A modern upstream puts its JSON-RPC errors under HTTP 400 and 404; those are answers to the caller. */
  #refusalByBody(problem: WireProblem): Answer | undefined {
    if (problem.kind !== 'refused' || this.#link?.agreement?.era !== 'modern') return undefined
    if (problem.status !== 400 && problem.status !== 404) return undefined
    const message = readMessages(problem.body ?? '')?.find((candidate) => answers(candidate, this.#id))
    return message === undefined || !('error' in message.value) ? undefined : readError(message, this.#parts.snip)
  }

  /** The session is lost: a new one is made once, and the call goes out again only if it cannot have run. */
  #renew(again: boolean, otherwise: Answer): void {
    const lost = this.#link
    if (lost === undefined || this.#renewed) return this.#settle(otherwise)
    this.#renewed = true
    const renewing = this.#parts.sessions.renew(this.#call, lost)
    if (!again) return this.#settle(otherwise)
    void renewing.then((link) => this.#begin(link))
  }

  #progress(message: Message): void {
    if (progressOf(message) !== this.#id) return
    this.#heardAt = Date.now()
    const { onProgress } = this.#call
    if (onProgress === undefined) return
    const params = members(message.text)?.get('params')
    const spans = params && members(message.text, params.start)
    if (spans === undefined) return
    const meta = metaMembers(message.text, spans)
    onProgress(
      list(
        join(message.text, spans, (key) => key === 'progressToken' || key === '_meta'),
        meta === '' ? '' : `"_meta":{${meta}}`,
      ),
    )
  }

  #canAsk(): boolean {
    return this.#call.elicitation.form || this.#call.elicitation.url
  }

  /** A legacy upstream asks within the call's own stream. */
  async #question(message: Message): Promise<void> {
    const wire = this.#link?.wire
    const id = idText(message)
    const params = members(message.text)?.get('params')
    if (wire === undefined || id === undefined) return
    if (params === undefined) return void wire.post(errorText(id, -32602, 'The question has no params.'))
    const answers = await this.#ask([{ key: id, paramsText: message.text.slice(params.start, params.end) }])
    if (!this.#settled) void wire.post(resultText(id, answers.get(id) ?? '{"action":"cancel"}'))
  }

  /** A modern upstream asks by its result; the call goes on with the answers. */
  async #answerInputs(inputs: Inputs | undefined): Promise<void> {
    if (inputs === undefined) {
      return this.#settle(failed('outcome_unknown', 'It asked for input that this gateway cannot give.', 'maybe'))
    }
    if (++this.#rounds > MOST_ROUNDS) {
      return this.#settle(failed('outcome_unknown', `It asked for input more than ${MOST_ROUNDS} times.`, 'maybe'))
    }
    const answers = await this.#ask(inputs.questions)
    const responses = [...answers].map(([key, text]) => `${JSON.stringify(key)}:${text}`)
    if (responses.length === 0) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    if (this.#settled || this.#link === undefined) return
    this.#heardAt = Date.now()
    const state = inputs.stateText === undefined ? '' : `"requestState":${inputs.stateText}`
    this.#send(this.#link, list(responses.length === 0 ? '' : `"inputResponses":{${responses.join(',')}}`, state))
  }

  async #ask(questions: readonly Question[]): Promise<ReadonlyMap<string, string>> {
    this.#asking++
    const answers = await askPerson(questions, this.#call, this.#parts.asking)
    this.#asking--
    this.#heardAt = Date.now()
    return answers
  }

  /** One timer for the whole call: what was heard meanwhile only moves the time at which it looks again. */
  #tick(): void {
    const { timeoutMs, maxTimeoutMs } = this.#parts
    const now = Date.now()
    const last = this.#startedAt + Math.max(maxTimeoutMs, timeoutMs)
    const limit = this.#asking > 0 ? last : Math.min(this.#heardAt + timeoutMs, last)
    if (now < limit) {
      this.#timer = setTimeout(() => this.#tick(), limit - now)
      return
    }
    this.#abandon('The call took too long.')
    this.#settle(
      failed(
        'upstream_timeout',
        `It did not answer within ${Math.round((now - this.#startedAt) / 100) / 10} s.`,
        this.#ran(),
      ),
    )
  }

  #ran(): 'no' | 'maybe' {
    return this.#link === undefined ? 'no' : 'maybe'
  }

  /** Tells the upstream that nobody waits any more: by a notice, or over modern HTTP by closing the request. */
  #abandon(reason: string): void {
    const link = this.#link
    if (this.#settled || this.#answered || link === undefined) return
    if (link.kind === 'stdio' || link.agreement?.era === 'legacy') {
      void link.wire.post(
        noticeText('notifications/cancelled', `"requestId":${this.#id},"reason":${JSON.stringify(reason)}`),
      )
    }
    this.#drop?.()
  }

  #settle(answer: Answer): void {
    if (this.#settled) return
    this.#settled = true
    clearTimeout(this.#timer)
    this.#letGo()
    const { slug } = this.#parts.asking
    this.#resolve(answer.kind === 'failed' ? { ...answer, reason: `Upstream "${slug}": ${answer.reason}` } : answer)
  }

  #letGo(): void {
    if (this.#link === undefined) return
    this.#link.askers.delete(this.#asker)
    release(this.#link)
  }
}

/** The request as it goes out. An absent `arguments` goes as `{}`, which says the same and which every server takes. */
function callText(link: Link, id: number, call: UpstreamCall, more: string): string {
  const meta = list(
    call.metaText,
    call.onProgress === undefined ? '' : `"progressToken":${id}`,
    link.agreement?.era === 'modern' ? modernMeta(link.client, call.elicitation) : '',
  )
  const name = `"name":${JSON.stringify(call.tool.upstreamName)},"arguments":${call.argumentsText ?? '{}'}`
  return requestText(id, 'tools/call', list(name, call.extraText, more, meta === '' ? '' : `"_meta":{${meta}}`))
}
