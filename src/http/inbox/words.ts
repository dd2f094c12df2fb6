/**
 * A card in plain words: how old, how far, and what became of it.
 * @module
 */
import type { Card, CardStatus } from '../../approvals/cards.ts'

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const

/** A length of time in its largest whole unit, as in "3 minutes". */
export function span(ms: number): string {
  const [unit, size] = UNITS.find(([, each]) => ms >= each) ?? (['second', 1_000] as const)
  const count = Math.max(0, Math.floor(ms / size))
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

/** How long ago, as in "3 minutes ago". */
export const ago = (at: string, now: number): string => {
  const ms = now - Date.parse(at)
  return ms >= 5_000 ? `${span(ms)} ago` : 'just now'
}

/** How much time is left until a moment. */
export const left = (at: string, now: number): string => {
  const ms = Date.parse(at) - now
  return ms > 0 ? `${span(ms)} left` : 'no time left'
}

/** What a call of this tool does to the world. */
export const EFFECTS = {
  read: 'Reads, changes nothing',
  write: 'May change something',
  spend: 'Costs money',
} as const satisfies Record<Card['access'], string>

/** How a status looks: a word, and whether it is good, bad or open. */
export const STATUSES = {
  pending: ['Waiting', 'open'],
  approved: ['Approved, not run yet', 'open'],
  running: ['Running', 'open'],
  done: ['Ran', 'yes'],
  failed: ['Did not run', 'no'],
  unknown: ['Outcome unknown', 'no'],
  denied: ['Denied', 'no'],
  expired: ['Expired', 'no'],
  withdrawn: ['Withdrawn', 'no'],
} as const satisfies Record<CardStatus, readonly [string, 'open' | 'yes' | 'no']>

/** The state of a card in a few words. */
export function stateOf(card: Card): { readonly word: string; readonly tone: 'open' | 'yes' | 'no' } {
  if (card.settled !== undefined && card.status === 'done') return { word: 'It happened', tone: 'yes' }
  if (card.settled !== undefined && card.status === 'failed') return { word: 'It did not happen', tone: 'no' }
  if (card.status === 'done' && card.outcome?.isError)
    return { word: 'Ran, and the tool reported an error', tone: 'no' }
  const [word, tone] = STATUSES[card.status]
  return { word, tone }
}

/** What follows from the state, where the word alone does not say it. */
export function meaningOf(card: Card): string | undefined {
  if (card.settled !== undefined) return 'No answer came back from the far side; a person looked and said so.'
  switch (card.status) {
    case 'failed':
      return `The approved call ended with ${card.outcome?.code ?? 'internal'}.`
    case 'unknown':
      return 'The call left, and no answer came back. It may have run; it is not run again by itself.'
    case 'expired':
      return 'Nobody decided in time, so the call was denied. It did not run.'
    default:
      return undefined
  }
}

/** Who decided first, and how, as a sentence. */
export function decisionOf(card: Card): string {
  if (card.status === 'pending') return 'This call still waits.'
  if (card.status === 'expired') return 'Nobody decided in time, so this call was denied. It did not run.'
  const word = card.status === 'denied' || card.status === 'withdrawn' ? card.status : 'approved'
  const who = card.decidedBy === undefined ? '' : ` by ${card.decidedBy}`
  const when = card.decidedAt === undefined ? '' : ` at ${clock(card.decidedAt)}`
  return `This call was ${word}${who}${when}.`
}

/** A moment for people: `2026-01-31 14:05:09 UTC`. */
export const clock = (at: string): string => at.replace('T', ' ').replace(/\.\d+Z$/, ' UTC')

/** The time of day alone, for a moment within the next day: `14:05:09 UTC`. */
export const timeOfDay = (at: string): string => clock(at).slice(11)
