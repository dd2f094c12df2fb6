/**
 * What a call costs, and whether it may cost that unasked: the estimate of its tool, the operator's threshold, and what
 * the session has left. A tool that does not spend has no price, and asks nothing of the database.
 * @module
 */
import type { CardCost, Paying } from '../approvals/cards.ts'
import type { Meter, RegisteredTool } from '../connector/connector.ts'
import { statedMeter } from '../connector/meter.ts'
import type { Registry } from '../connector/registry.ts'
import type { Call, Facts } from '../policy/decide.ts'
import type { Session } from '../policy/words.ts'
import { amountOf, isWithin } from '../session/amount.ts'
import type { Left } from '../session/spend-left.ts'

/** What a call of a tool that spends comes to at most, and what stands against it. */
export interface Price {
  /** Undefined: nobody can say, so a person decides. */
  readonly cost: CardCost | undefined
  /** By the operator's threshold; for a session that nobody watches its allowance alone counts. */
  readonly level: Call['cost']
  readonly left: Facts['left']
  /** How a card of it would be paid. */
  readonly paying: Paying
  /** As a decimal, before the call; undefined where no allowance limits the session. */
  readonly free: string | undefined
}

/** Up to what a call of a connector runs unasked, in a unit; undefined: nothing does. */
export type AskAbove = (connector: string, unit: string) => string | undefined

export interface PriceParts {
  readonly registry: Registry
  readonly askAbove: AskAbove
  readonly left: (sessionId: string, connector: string, unit: string) => Promise<Left | undefined>
}

const stated = new WeakMap<RegisteredTool, Meter>()

/** The meter of a tool that spends: its own, or one from what the operator wrote. */
export function meterOf(tool: RegisteredTool): Meter | undefined {
  if (tool.access !== 'spend') return undefined
  if (tool.meter !== undefined || tool.cost === undefined) return tool.meter
  const known = stated.get(tool) ?? statedMeter(tool.cost)
  stated.set(tool, known)
  return known
}

/** What a call costs at most; undefined of what does not spend, and where nobody can say. */
export function costOf(tool: RegisteredTool, argumentsText: string | undefined): CardCost | undefined {
  const estimate = meterOf(tool)?.estimate(argumentsText)
  const amount = amountOf(estimate?.amount)
  return estimate === undefined || amount === undefined ? undefined : { unit: estimate.unit, amount }
}

/** The price of a call as of now, after the vendor's prices have been read. Throws when the database cannot be asked. */
export async function priceOf(
  parts: PriceParts,
  session: Session,
  tool: RegisteredTool,
  argumentsText: string | undefined,
): Promise<Price> {
  await parts.registry.find(tool.connector, session.brand)?.prepare?.(session)
  return knownPrice(parts, session, tool, argumentsText)
}

/** The same from what is known, without a word to the vendor. */
export async function knownPrice(
  parts: Omit<PriceParts, 'registry'>,
  session: Session,
  tool: RegisteredTool,
  argumentsText: string | undefined,
): Promise<Price> {
  const cost = costOf(tool, argumentsText)
  if (cost === undefined || !isLimited(session, tool)) return judge(session, tool, cost, undefined, parts.askAbove)
  return judge(session, tool, cost, await parts.left(session.id, tool.connector, cost.unit), parts.askAbove)
}

/** What is said of a call whose cost is known, or is not. Pure. */
export function judge(
  session: Pick<Session, 'grant' | 'role' | 'channel'>,
  tool: Pick<RegisteredTool, 'connector'>,
  cost: CardCost | undefined,
  found: Left | undefined,
  askAbove: AskAbove,
): Price {
  const { connector } = tool
  const limited = isLimited(session, tool)
  if (cost === undefined) return { cost, level: undefined, left: undefined, paying: 'unlimited', free: undefined }
  const covers = !limited || (found !== undefined && isWithin(cost.amount, found.left))
  const unwatched = limited && session.channel === 'none'
  const level = unwatched || isWithin(cost.amount, askAbove(connector, cost.unit)) ? 'within' : 'above'
  return {
    cost,
    level,
    left: limited ? { covers, because: leftWords(connector, cost, found) } : undefined,
    paying: !limited ? 'unlimited' : covers ? 'allowance' : 'beyond',
    free: limited ? (found?.left ?? '0') : undefined,
  }
}

/** Whether an allowance limits the session here: one was granted, or its role has nobody to watch what it spends. */
function isLimited({ grant, role }: Pick<Session, 'grant' | 'role'>, { connector }: Pick<RegisteredTool, 'connector'>) {
  return Object.hasOwn(grant.allowance, connector) || role.asksPerson !== true || role.connectors === 'routine'
}

function leftWords(connector: string, { unit, amount }: CardCost, found: Left | undefined): string {
  if (found === undefined) {
    return `This call costs up to ${amount} ${unit}, and the session has no allowance for ${connector} in ${unit}.`
  }
  return `This call costs up to ${amount} ${unit}, and of the run’s ${found.most} for ${connector} ${found.left} are left.`
}
