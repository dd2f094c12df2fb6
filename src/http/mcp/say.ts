/**
 * Outcomes in MCP's words, as JSON text: what the model can mend or must wait for is a result it can read; a name
 * outside the view is a JSON-RPC error (design, section 5, "Codes").
 * @module
 */
import type { Question } from '../../connector/connector.ts'
import type { Outcome } from '../../gate/outcome.ts'
import type { Era } from './lists.ts'
import { META, RPC } from './protocol.ts'

interface Words {
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
  switch (outcome.kind) {
    case 'answered': {
      const { answer } = outcome
      if (answer.kind === 'error') return `{"jsonrpc":"2.0","id":${idText},"error":${answer.errorText}}`
      return answerText(idText, resultText(words, era, answer.members, answer.metaText))
    }
    case 'refused': {
      if (outcome.code === 'unknown_tool') return errorText(idText, RPC.invalidParams, outcome.message)
      const facts = { code: outcome.code, reason: outcome.message, rules: outcome.reasons.map(({ rule }) => rule) }
      return answerText(
        idText,
        saying(words, era, true, `${outcome.code}: ${outcome.message}`, { ...facts, ...cardFacts(outcome.card) }),
      )
    }
    case 'pending': {
      const { card } = outcome
      const stands =
        card.status === 'pending'
          ? `a person has to decide this call, and has not yet (card ${card.id}, open until ${card.expiresAt}, at ${words.inboxUrl}). It did not run so far.`
          : `a person approved this call (card ${card.id}), and it has not ended yet.`
      const text = `approval_pending: ${stands} Call the tool again with exactly the same arguments to get the outcome; no second card is made. Other arguments would be another call.`
      return answerText(
        idText,
        saying(words, era, false, text, {
          code: 'approval_pending',
          reason: text,
          ...cardFacts(card),
        }),
      )
    }
  }
}

function cardFacts(card: { readonly id: string; readonly status: string; readonly expiresAt: string } | undefined) {
  return card === undefined ? {} : { card: { id: card.id, status: card.status, expiresAt: card.expiresAt } }
}

function saying(words: Words, era: Era, isError: boolean, text: string, facts: Record<string, unknown>): string {
  const members = `"content":[{"type":"text","text":${JSON.stringify(text)}}],"isError":${isError}`
  return resultText(words, era, members, `"dev.tollgate/decision":${JSON.stringify(facts)}`)
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
