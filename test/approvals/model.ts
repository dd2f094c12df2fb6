/**
 * What cards do, in sixty lines and without a database: the yardstick for random sequences of commands.
 * @module
 */
import type { CardStatus } from '../../src/approvals/cards.ts'

interface ModelCard {
  readonly id: string
  status: CardStatus
  /** Its time (to decide, or of its lease) is over and no sweep came by yet. */
  over: boolean
  delivered: boolean
}

const OPEN: readonly CardStatus[] = ['pending', 'approved', 'running']

export interface Model {
  /** All cards of each call, oldest first. */
  readonly calls: readonly ModelCard[][]
  /** How often each card ran. */
  readonly runs: Map<string, number>
}

/** A model of so many different calls of one session. */
export function emptyModel(calls: number): Model {
  return { calls: Array.from({ length: calls }, () => []), runs: new Map() }
}

/** The card any command on a call means: the newest. */
export const newest = (model: Model, call: number): ModelCard | undefined => model.calls[call]?.at(-1)

/** The card that parking the call would join. */
export function open(model: Model, call: number): ModelCard | undefined {
  const card = newest(model, call)
  return card !== undefined && OPEN.includes(card.status) ? card : undefined
}

/** What a caller would find. */
export function latest(model: Model, call: number): ModelCard | undefined {
  const told = (card: ModelCard) => !OPEN.includes(card.status) && card.status !== 'withdrawn' && !card.delivered
  return open(model, call) ?? model.calls[call]?.findLast(told)
}

/** Moves the newest card of a call, if that is legal from where it stands. */
export function move(model: Model, call: number, from: readonly CardStatus[], to: CardStatus): boolean {
  const card = newest(model, call)
  if (card === undefined) return false
  const person = to === 'approved' || to === 'denied' || to === 'withdrawn'
  if (person && card.status === 'pending' && card.over) card.status = 'expired'
  if (!from.includes(card.status)) return false
  card.status = to
  card.over = false
  if (to === 'running') model.runs.set(card.id, (model.runs.get(card.id) ?? 0) + 1)
  return true
}

/** What a sweep does: all whose time is over. Returns how many moved. */
export function sweep(model: Model): number {
  const over = model.calls
    .flat()
    .filter((card) => card.over && (card.status === 'pending' || card.status === 'running'))
  for (const card of over) card.status = card.status === 'pending' ? 'expired' : 'unknown'
  return over.length
}
