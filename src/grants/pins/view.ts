/**
 * What a person sees of an upstream's tools: each as it was accepted, as it is seen now, and what differs.
 * @module
 */
import type { Connector, RegisteredTool } from '../../connector/connector.ts'
import { type DefinitionDiff, diffDefinitions } from '../../policy/definition-diff.ts'
import { redactJson, redactText, visible } from '../../policy/redact.ts'
import type { Access } from '../../policy/words.ts'
import type { Guarded, PinsOfUpstreams, StoredPin } from './pins.ts'
import { definitionOf, toolPart } from './rows.ts'

/** `gone`: accepted once, and not listed now. */
export const TOOL_STATES = ['open', 'changed', 'new', 'gone', 'corrupt'] as const

export interface ToolState {
  /** Its part of the canonical name. */
  readonly tool: string
  readonly name: string
  readonly state: (typeof TOOL_STATES)[number]
  /** As the operator classified it; null for one that is gone. */
  readonly access: Access | null
  /** Of the definition that its upstream shows now; of the accepted one where it shows none. */
  readonly digest: string | null
  readonly pinned: {
    readonly digest: string
    readonly acceptedBy: string
    readonly acceptedAt: string
    readonly definition: unknown
  } | null
  /** What is seen and not accepted; its digest is the one to accept. */
  readonly seen: { readonly digest: string; readonly seenAt: string | null; readonly definition: unknown } | null
  readonly diff: DefinitionDiff
  readonly renamedFrom?: string
  /** Annotations as its upstream states them. They decide nothing. */
  readonly serverSays: unknown
}

const LONGEST_TEXT = 4_000
const LONGEST = 100_000

/** All tools of a guarded upstream, accepted and listed, sorted by name. */
export async function toolStates(pins: PinsOfUpstreams, guarded: Guarded): Promise<ToolState[]> {
  const stored = new Map((await pins.read(guarded.set))?.pins.map((pin) => [pin.tool, pin]) ?? [])
  const listed = new Map(guarded.listed().map((tool) => [toolPart(tool), tool]))
  // What nobody ever accepted and nobody lists is nothing any more.
  const kept = [...stored.values()].filter(({ digest, tool }) => digest !== null || listed.has(tool))
  const names = [...new Set([...kept.map(({ tool }) => tool), ...listed.keys()])].sort()
  return names.map((tool) => stateOf(guarded, tool, stored.get(tool), listed.get(tool)))
}

/** The tools of a connector that is not pinned: they are the product's own code. */
export function unpinned(connector: Connector): ToolState[] {
  return connector.tools().map((tool) => {
    const definition = `{"name":${JSON.stringify(tool.ownName)}${tool.definition.modern}}`
    const { name, access, digest } = tool
    const none = { pinned: null, seen: null, diff: { changes: [], more: 0 } }
    return { tool: toolPart(tool), name, state: 'open', access, digest, ...none, serverSays: annotationsOf(definition) }
  })
}

function stateOf(
  guarded: Guarded,
  tool: string,
  pin: StoredPin | undefined,
  listed: RegisteredTool | undefined,
): ToolState {
  const { state = 'gone', renamedFrom } = listed === undefined ? {} : (guarded.verdict(tool) ?? {})
  const now = listed && definitionOf(listed)
  const accepted = pin?.digest ?? undefined
  const own = now !== undefined && now.digest !== accepted ? { digest: now.digest, text: now.text } : undefined
  const other =
    pin?.seenDigest == null || pin.seenDefinition === null
      ? undefined
      : { digest: pin.seenDigest, text: pin.seenDefinition }
  // A corrupt pin is accepted anew as it is listed, the same digest or not.
  const seen = own ?? other ?? (state === 'corrupt' ? now : undefined)
  const seenAt = pin?.seenDigest === seen?.digest ? pin?.seenAt : null
  const shown = seen?.text ?? now?.text ?? pin?.definition ?? undefined
  return {
    tool,
    name: `mcp__${guarded.set.connector}__${tool}`,
    state: state === 'undiscovered' ? 'new' : state,
    access: listed?.access ?? null,
    digest: now?.digest ?? accepted ?? null,
    pinned:
      pin?.digest == null
        ? null
        : {
            digest: pin.digest,
            acceptedBy: pin.acceptedBy ?? '',
            acceptedAt: pin.acceptedAt?.toISOString() ?? '',
            definition: shownDefinition(pin.definition ?? ''),
          },
    seen:
      seen === undefined
        ? null
        : { digest: seen.digest, seenAt: seenAt?.toISOString() ?? null, definition: shownDefinition(seen.text) },
    diff: seen === undefined ? { changes: [], more: 0 } : diffDefinitions(pin?.definition ?? undefined, seen.text),
    ...(renamedFrom === undefined ? {} : { renamedFrom }),
    serverSays: shown === undefined ? null : annotationsOf(shown),
  }
}

/** A definition fit to be shown: hidden characters visible, secrets redacted, long texts cut. */
function shownDefinition(text: string): unknown {
  const shown = redactJson(text, shownText)
  return shown.length <= LONGEST
    ? JSON.parse(shown)
    : `${shown.slice(0, LONGEST)}… [cut: ${shown.length} characters in all]`
}

export function annotationsOf(text: string): unknown {
  const shown = shownDefinition(text)
  return typeof shown === 'object' && shown !== null && 'annotations' in shown ? shown.annotations : null
}

function shownText(text: string): string {
  const shown = visible(redactText(text.slice(0, LONGEST_TEXT * 2)))
  return text.length <= LONGEST_TEXT
    ? shown
    : `${shown.slice(0, LONGEST_TEXT)}… [cut: ${text.length} characters in all]`
}
