/**
 * A card in the words of the Tasks extension (SEP-2663; ext-tasks, 2026-07-28): a task is a card as its own session
 * sees it, and its id is the card's. What the call came to is in it as `tools/call` would have said it.
 * @module
 */
import type { Card } from '../../approvals/cards.ts'
import { isObject } from './envelope.ts'
import { cardUrl } from './card-page.ts'
import { META } from './protocol.ts'
import type { Said, Words } from './say.ts'

/** The extension's id in the capabilities of either side. */
export const TASKS = 'io.modelcontextprotocol/tasks'

/** Whether these very capabilities, of one request, declare the extension. */
export function declaresTasks(capabilities: unknown): boolean {
  const extensions = isObject(capabilities) ? capabilities.extensions : undefined
  return isObject(extensions) && Object.hasOwn(extensions, TASKS) && isObject(extensions[TASKS])
}

/** The result that hands out a task in place of the call's own. */
export function handleText(words: Words, card: Card): string {
  return `{"resultType":"task",${taskMembers(card, 'working', statusOf(words, card))},${metaOf(words)}}`
}

/** The result of `tasks/get` for a card that is open. */
export function workingText(words: Words, card: Card): string {
  return `{"resultType":"complete",${taskMembers(card, 'working', statusOf(words, card))},${metaOf(words)}}`
}

/** The result of `tasks/get` for a card that its own caller took back. */
export function cancelledText(words: Words, card: Card): string {
  const members = taskMembers(card, 'cancelled', 'The caller took the call back before it started. It did not run.')
  return `{"resultType":"complete",${members},${metaOf(words)}}`
}

/**
 * The result of `tasks/get` for a card that has ended. A refusal or a failure of the tool is a result with `isError`;
 * `failed` is for JSON-RPC errors alone.
 */
export function endedText(words: Words, card: Card, said: Said): string {
  const members =
    said.is === 'result'
      ? `${taskMembers(card, 'completed', undefined)},"result":${said.text}`
      : `${taskMembers(card, 'failed', 'The call was answered with a JSON-RPC error.')},"error":${said.text}`
  return `{"resultType":"complete",${members},${metaOf(words)}}`
}

/** The empty result that acknowledges `tasks/update` and `tasks/cancel`. */
export const acknowledgedText = (words: Words): string => `{"resultType":"complete",${metaOf(words)}}`

const metaOf = ({ serverInfoText }: Words): string => `"_meta":{"${META.serverInfo}":${serverInfoText}}`

function statusOf({ inboxUrl }: Words, card: Card): string {
  if (card.status === 'pending') return `Waiting for a person to decide at ${cardUrl(inboxUrl, card)}. It did not run.`
  return card.status === 'approved' ? 'Approved, and about to run.' : 'Approved, and running.'
}

/** For this long after the last moment of its decision a task is told to last: time to run, and to be collected. */
const TO_COLLECT_MS = 24 * 60 * 60_000

function taskMembers(card: Card, status: string, statusMessage: string | undefined): string {
  const task = {
    taskId: card.id,
    status,
    ...(statusMessage === undefined ? {} : { statusMessage }),
    createdAt: card.createdAt,
    lastUpdatedAt: card.endedAt ?? card.startedAt ?? card.decidedAt ?? card.createdAt,
    ttlMs: Date.parse(card.expiresAt) - Date.parse(card.createdAt) + TO_COLLECT_MS,
    pollIntervalMs: pollIntervalOf(card),
  }
  return JSON.stringify(task).slice(1, -1)
}

/** What runs ends soon; a person takes a while. */
const pollIntervalOf = ({ status }: Card): number => (status === 'pending' ? 5_000 : 1_000)
