/**
 * What cards do, in sixty lines and without a database: the yardstick for random sequences of commands.
 * @module
 */
import type { CardStatus } from '../../src/approvals/cards.ts'

interface ModelStanding {
  readonly id: string
  /** Exactly this call, or all of them: they differ within the pattern. */
  readonly call: number | 'all'
  left: number
  revoked: boolean
}

interface ModelCard {
  readonly id: string
  status: CardStatus
  delivered: boolean
  readonly standing: ModelStanding | undefined
}

const OPEN: readonly CardStatus[] = ['pending', 'approved', 'running']

export interface Model {
  /** All cards of each call of one session, oldest first. */
  readonly calls: readonly ModelCard[][]
  /** Approvals that stand, oldest first. */
  readonly standing: ModelStanding[]
  sessionOver: boolean
}

/** A model of so many different calls of one session. */
export function emptyModel(calls: number): Model {
  const none = Array.from({ length: calls }, () => [])
  return { calls: none, standing: [], sessionOver: false }
}

/** The card any command on a call means: the newest. */
export const newest = (model: Model, call: number): ModelCard | undefined => model.calls[call]?.at(-1)

/** The card that parking the call would join. */
export function open(model: Model, call: number): ModelCard | undefined {
  const card = newest(model, call)
  return card !== undefined && OPEN.includes(card.status) ? card : undefined
}

/** Parks a call under the id that the real side gave: approved where something stands for it, exact before similar. */
export function park(model: Model, call: number, id: string): ModelCard {
  const live = model.sessionOver ? [] : model.standing.filter(({ revoked, left }) => !revoked && left > 0)
  const standing = live.findLast((one) => one.call === call) ?? live.findLast((one) => one.call === 'all')
  if (standing !== undefined) standing.left--
  const status = standing === undefined ? 'pending' : 'approved'
  const card: ModelCard = { id, status, delivered: false, standing }
  model.calls[call]?.push(card)
  return card
}

/** What a caller would find. */
export function latest(model: Model, call: number): ModelCard | undefined {
  const told = (card: ModelCard) => !OPEN.includes(card.status) && card.status !== 'withdrawn' && !card.delivered
  return open(model, call) ?? model.calls[call]?.findLast(told)
}

/** Moves the newest card of a call, if that is legal from where it stands. */
export function move(model: Model, call: number, from: readonly CardStatus[], to: CardStatus): boolean {
  const card = newest(model, call)
  if (card === undefined || !from.includes(card.status)) return false
  card.status = to
  return true
}

/** Takes a standing approval back, and what it let through and has not started. */
export function revoke(model: Model, standing: ModelStanding | undefined): boolean {
  if (standing === undefined || standing.revoked) return false
  standing.revoked = true
  const started = model.calls.flat().filter((card) => card.standing === standing && card.status === 'approved')
  for (const card of started) card.status = 'withdrawn'
  return true
}

/** The time of the newest card of a call, or its lease, is over. */
export function lapse(model: Model, call: number): void {
  if (!move(model, call, ['pending'], 'expired')) move(model, call, ['running'], 'unknown')
}
