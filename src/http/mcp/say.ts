/**
 * Outcomes in MCP's words, as JSON text: what the model can mend or must wait for is a result it can read; a name
 * outside the view is a JSON-RPC error (design, section 5, "Codes").
 * @module
 */
import type { Card } from '../../approvals/cards.ts'
import type { Question } from '../../connector/connector.ts'
import type { Outcome } from '../../gate/outcome.ts'
import type { SpendFacts } from '../../gate/paid.ts'
import { cardUrl } from './card-page.ts'
import type { Era } from './lists.ts'
import { META, RPC } from './protocol.ts'
import { handleText } from './task.ts'

export interface Words {
  readonly inboxUrl: string
  readonly serverInfoText: string
}

/** The result that asks a modern client for input (SEP-2322). */
export function inputRequired(serverInfoText: string, questions: readonly Question[], state: string): string {
  const requests = questions.map(
    ({ key, paramsText }) => `${JSON.stringify(key)}:{"method":"elicitation/create","params":${paramsText}}`,
  )
  const meta = `"_meta":{"${META.serverInfo}":${serverInfoText}}`
  return `{"resultType":"input_required","requestState":${JSON.stringify(state)},"inputRequests":{${requests.join(',')}},${meta}}`
}

/** `{"jsonrpc":"2.0","id":…,"result":…}` */
export const answerText = (idText: string, resultText: string): string =>
  `{"jsonrpc":"2.0","id":${idText},"result":${resultText}}`

/** A JSON-RPC error as text. */
export function errorText(idText: string, code: number, message: string, dataText?: string): string {
  const data = dataText === undefined ? '' : `,"data":${dataText}`
  return `{"jsonrpc":"2.0","id":${idText},"error":{"code":${code},"message":${JSON.stringify(message)}${data}}}`
}

/** The whole answer to a `tools/call`. */
export function outcomeText(words: Words, era: Era, idText: string, outcome: Outcome): string {
  const said = sayOutcome(words, era, outcome)
  return said.is === 'result' ? answerText(idText, said.text) : `{"jsonrpc":"2.0","id":${idText},"error":${said.text}}`
}

/** A `tools/call` result, or the error object in its place. */
export interface Said {
  readonly is: 'result' | 'error'
  readonly text: string
}

/** An outcome as the result of its call, as JSON text. */
export function sayOutcome(words: Words, era: Era, outcome: Outcome): Said {
  switch (outcome.kind) {
    case 'answered': {
      const { answer } = outcome
      if (answer.kind === 'error') return { is: 'error', text: answer.errorText }
      return { is: 'result', text: resultText(words, era, answer.members, withSpend(answer.metaText, outcome.spend)) }
    }
    case 'refused': {
      const { code, message, reasons, card, facts: vendor, spend } = outcome
      if (code === 'unknown_tool') {
        return { is: 'error', text: `{"code":${RPC.invalidParams},"message":${JSON.stringify(message)}}` }
      }
      const rules = reasons.map(({ rule }) => rule)
      const facts = {
        code,
        reason: message,
        rules,
        ...(vendor && { vendor }),
        ...(spend && { spend }),
        ...cardFacts(words, card),
      }
      return { is: 'result', text: saying(words, era, true, `${code}: ${message}`, facts) }
    }
    case 'pending':
      return {
        is: 'result',
        text: outcome.handle === true ? handleText(words, outcome.card) : pendingText(words, era, outcome.card),
      }
  }
}

/** "Call again", which is no error: three errors in a row make some clients drop the whole server. */
function pendingText(words: Words, era: Era, card: Card): string {
  const stands =
    card.status === 'pending'
      ? `a person has to decide this call, and has not yet (card ${card.id}, open until ${card.expiresAt}, at ${cardUrl(words.inboxUrl, card)}). It did not run so far.`
      : `a person approved this call (card ${card.id}), and it has not ended yet.`
  const text = `approval_pending: ${stands} ${CALL_AGAIN} Other arguments would be another call.`
  const facts = { code: 'approval_pending', reason: text, next: CALL_AGAIN, ...cardFacts(words, card) }
  return saying(words, era, false, text, facts)
}

const DECISION = 'dev.tollgate/decision'
const CALL_AGAIN = 'Call the tool again with exactly the same arguments to get the outcome; no second card is made.'

function cardFacts({ inboxUrl }: Words, card: Card | undefined) {
  if (card === undefined) return {}
  const { id, status, expiresAt, cost } = card
  return { card: { id, status, expiresAt, url: cardUrl(inboxUrl, card), ...(cost && { cost }) } }
}

/** The upstream's `_meta`, and after it what the call came to and what is left. */
function withSpend(metaText: string, spend: SpendFacts | undefined): string {
  if (spend === undefined) return metaText
  const facts = `"${DECISION}":${JSON.stringify({ code: 'ok', spend })}`
  return metaText === '' ? facts : `${metaText},${facts}`
}

function saying(words: Words, era: Era, isError: boolean, text: string, facts: Record<string, unknown>): string {
  const members = `"content":[{"type":"text","text":${JSON.stringify(text)}}],"isError":${isError}`
  return resultText(words, era, members, `"${DECISION}":${JSON.stringify(facts)}`)
}

function resultText(words: Words, era: Era, membersText: string, metaText: string): string {
  if (era === 'legacy') {
    const meta = metaText === '' ? '' : `${membersText === '' ? '' : ','}"_meta":{${metaText}}`
    return `{${membersText}${meta}}`
  }
  const info = `"${META.serverInfo}":${words.serverInfoText}`
  const meta = metaText === '' ? info : `${info},${metaText}`
  return `{"resultType":"complete"${membersText === '' ? '' : `,${membersText}`},"_meta":{${meta}}}`
}
