/**
 * From a declared tool and its body to a registered tool: the definition that clients see, and what the tool itself says
 * of its arguments before anything leaves.
 * @module
 */
import { createHash } from 'node:crypto'
import { canonicalText } from '../../json.ts'
import { canonical } from '../../policy/names.ts'
import type { Tool } from '../../policy/words.ts'
import type { Judged, Meter, RegisteredTool } from '../connector.ts'
import type { Body } from './body.ts'
import { decimal } from './decimal.ts'
import { Refusal } from './failure.ts'
import { readInput, schemaOf } from './input.ts'
import type { Values } from './values.ts'

/** What a tool is made of besides its body. */
export interface ToolParts {
  /** As policy sees it, under the connector's own slug. */
  readonly facts: Tool
  readonly ownName: string
  /** The slug of the connection. */
  readonly slug: string
  /** What the connector bills in, if it does. */
  readonly unit: string | undefined
  readonly settings: Values
  /** The account's prices, as far as they have been read. */
  readonly prices: () => unknown
  /** See RegisteredTool. */
  readonly upstream: string
}

/** Makes the tool. */
export function nativeTool(
  body: Body,
  { facts, ownName, slug, unit, settings, prices, upstream }: ToolParts,
): RegisteredTool {
  return {
    ...facts,
    name: canonical(slug, ownName),
    connector: slug,
    upstreamName: ownName,
    ownName,
    title: body.title,
    description: body.description,
    ...definitionOf(body, ownName, facts.access),
    upstream,
    judge: (argumentsText) => judge(body, facts, argumentsText, settings),
    ...(body.summary !== undefined && { summary: (argumentsText) => summaryOf(body, argumentsText, settings) }),
    ...(body.cost !== undefined && unit !== undefined && { meter: meterOf(body, unit, prices) }),
  }
}

/** Definitions are the same for every brand, so each is written once. */
const definitions = new WeakMap<Body, Pick<RegisteredTool, 'definition' | 'digest'>>()

function definitionOf(body: Body, name: string, access: Tool['access']): Pick<RegisteredTool, 'definition' | 'digest'> {
  const known = definitions.get(body)
  if (known !== undefined) return known
  const { title, description, input } = body
  const annotations = { readOnlyHint: access !== 'write', openWorldHint: true }
  const text = `,${JSON.stringify({ title, description, inputSchema: schemaOf(input), annotations }).slice(1, -1)}`
  const digest = createHash('sha256')
    .update(canonicalText(`{"name":${JSON.stringify(name)}${text}}`))
    .digest('hex')
  const made = { definition: { legacy: text, modern: text }, digest }
  definitions.set(body, made)
  return made
}

/** What the tool says of these arguments: whether they may be sent at all, and whether they change anything. Never throws. */
export function judge(
  body: Body,
  { asks }: Pick<Tool, 'asks'>,
  argumentsText: string | undefined,
  settings: Values,
): Judged {
  const forbidden = body.forbidden?.(quietly(() => JSON.parse(argumentsText ?? '{}')))
  if (forbidden !== undefined) return { refused: { code: 'forbidden_arguments', because: forbidden } }
  const read = readInput(body.input, argumentsText)
  if (!read.ok) return { refused: { code: 'invalid_arguments', because: read.because } }
  try {
    const refusal = body.refuse?.(read.args, settings)
    if (refusal !== undefined) return { refused: { code: refusal.code, because: refusal.message } }
    return asks === 'mutations' ? { mutates: body.mutates?.(read.args) !== false } : {}
  } catch (error) {
    if (error instanceof Refusal) return { refused: { code: error.code, because: error.message } }
    const because = 'These arguments cannot be judged, so they are not sent.'
    return { refused: { code: 'forbidden_arguments', because } }
  }
}

function summaryOf(body: Body, argumentsText: string | undefined, settings: Values): string | undefined {
  const read = readInput(body.input, argumentsText)
  return read.ok ? quietly(() => body.summary?.(read.args, settings)) : undefined
}

function meterOf({ input, cost }: Body, unit: string, prices: () => unknown): Meter {
  const priced = (amount: unknown) => {
    const plain = decimal(amount)
    return plain === undefined ? undefined : { unit, amount: plain }
  }
  return {
    unit,
    estimate(argumentsText) {
      const read = readInput(input, argumentsText)
      return read.ok ? priced(quietly(() => cost?.estimate(read.args, prices()))) : undefined
    },
    actual(membersText) {
      const result = quietly(() => JSON.parse(`{${membersText}}`) as { structuredContent?: Record<string, unknown> })
      const { structuredContent } = result ?? {}
      return structuredContent && priced(quietly(() => cost?.actual(structuredContent)))
    },
  }
}

/** Undefined where a connector's own function throws. */
function quietly<T>(ask: () => T): T | undefined {
  try {
    return ask()
  } catch {
    return undefined
  }
}
