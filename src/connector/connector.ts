/**
 * What a connector is to the rest of the gateway: some tools, and a way to run one call of one tool.
 * MCP upstreams and native connectors are both this.
 * @module
 */
import type { Code, Session, Tool } from '../policy/words.ts'

/** What a call costs, as the operator wrote it: the same for every call, or what an argument of it says. */
export interface Cost {
  readonly unit: string
  /** A decimal. */
  readonly amount?: string | undefined
  readonly argument?: string | undefined
  /** Where in the result it says what the call came to: names with points between them. */
  readonly actual?: string | undefined
}

/** An amount of something that is billed: a decimal as text, never a float. */
export interface Amount {
  readonly unit: string
  readonly amount: string
}

/** What calls of a billing tool come to. Pure and quick; neither ever throws. */
export interface Meter {
  readonly unit: string
  /** The most a call with these arguments comes to; undefined where nobody can say. */
  estimate(argumentsText: string | undefined): Amount | undefined
  /** What a result came to, read from its members (as in Answer); undefined: unknown, so the whole estimate stands. */
  actual(membersText: string): Amount | undefined
}

/** What a tool itself says of a call's arguments, before anybody is asked and before anything leaves. */
export interface Judged {
  /** Whether they change anything; said of a tool that asks for `mutations`. */
  readonly mutates?: boolean
  /** They are not sent, whatever a person says. */
  readonly refused?: { readonly code: 'invalid_arguments' | 'forbidden_arguments'; readonly because: string }
}

/** A tool that exists, with its definition as it goes out. */
export interface RegisteredTool extends Tool {
  /** Only of a tool that spends. */
  readonly cost?: Cost
  /** Of a tool with a body that bills. */
  readonly meter?: Meter
  /** Of a tool with a body. Pure; never throws. */
  readonly judge?: (argumentsText: string | undefined) => Judged
  /** One sentence for the card of a call, where the tool has its own. Not redacted. */
  readonly summary?: (argumentsText: string | undefined) => string | undefined
  /** The name its upstream knows, sent back to it unchanged. */
  readonly upstreamName: string
  /** The tool part under which `/mcp/<connector>` lists it. */
  readonly ownName: string
  readonly title: string | undefined
  readonly description: string | undefined
  /**
   * The definition's members after `name`, as JSON text: '' or `,"description":"…","inputSchema":{…}`.
   * Byte for byte what the upstream said, but for schemas that strict clients of that era would reject.
   */
  readonly definition: { readonly legacy: string; readonly modern: string }
  /** SHA-256 (hex) of the canonical definition, name included. */
  readonly digest: string
  /** The definition as its upstream wrote it, name included; of an upstream's tool only. */
  readonly source?: string
  /** Which far side it is: a digest (hex) of the address or command it is reached by. Never a secret. */
  readonly upstream: string
}

/** A tool or a whole connector that is not there, and why; `tool` is canonical, or `mcp__<connector>__*` for all of it. */
export interface Withheld {
  readonly tool: string
  readonly code: Code
  readonly reason: string
}

/** A tool that its upstream lists and that nobody accepted as it is now: in no view, until somebody does. */
export interface ClosedTool {
  readonly tool: RegisteredTool
  readonly reason: string
}

export type ConnectorState =
  | { readonly state: 'ready'; readonly detail: string }
  | { readonly state: 'connecting' | 'failed'; readonly detail: string }

/** Which ways of asking the person at the client's end this very request declared. */
export interface ElicitationModes {
  readonly form: boolean
  readonly url: boolean
}

/** One question of an upstream: a key of its own and the `elicitation/create` params, a JSON object. */
export interface Question {
  readonly key: string
  readonly paramsText: string
}

/**
 * One `tools/call` on its way out. All JSON is text, spliced and never re-serialised, so that numbers,
 * key order and unknown members pass unchanged. Nothing of the caller's transport is in it.
 */
export interface UpstreamCall {
  readonly tool: RegisteredTool
  readonly session: Session
  /** The `arguments` object, or undefined when the caller sent none. */
  readonly argumentsText: string | undefined
  /** The approved call that this is: the same however often it is attempted. Absent where nobody was asked. */
  readonly key?: string | undefined
  /** Members of `params` besides `name`, `arguments` and `_meta`: '' or `"a":1,"b":2`. */
  readonly extraText: string
  /** Members of `_meta` that are the caller's to pass on (no reserved keys, no progress token): '' or `"x/y":1`. */
  readonly metaText: string
  readonly elicitation: ElicitationModes
  /** Present where the caller gave a progress token. `paramsText`: members of the notice besides the token. */
  readonly onProgress: ((paramsText: string) => void) | undefined
  /**
   * Asks the person at the client's end, all questions of one round at once (several where a modern upstream's
   * `input_required` holds several). Answers by key, each the JSON text of an ElicitResult
   * (`{"action":"accept","content":{…}}`); a key without an answer is missing, for the upstream to ask again or give up.
   */
  readonly ask: (questions: readonly Question[]) => Promise<ReadonlyMap<string, string>>
}

/**
 * How a call ended.
 * `result`: the upstream's result. `members` are its members besides `resultType` and `_meta`; `metaText` the members of
 * its `_meta` without reserved keys; both as JSON text without braces.
 * `error`: the upstream's JSON-RPC error, as JSON text of the error object.
 * `failed`: no answer, or a vendor's refusal with its `facts` for the model; `ran` says whether the tool may have run.
 */
export type Answer =
  | { readonly kind: 'result'; readonly members: string; readonly metaText: string; readonly isError: boolean }
  | { readonly kind: 'error'; readonly errorText: string }
  | {
      readonly kind: 'failed'
      readonly code: Code
      readonly reason: string
      readonly ran: 'no' | 'maybe'
      readonly facts?: Readonly<Record<string, unknown>>
    }

/** A call under way. `cancel` tells the upstream, under the gateway's own id; the answer then is `failed`. */
export interface Running {
  readonly answer: Promise<Answer>
  cancel(reason: string): void
}

export interface Connector {
  readonly slug: string
  readonly title: string
  /** Whether its tools exist for this brand at all (credentials resolve, switch on). */
  serves(brand: string): boolean
  state(): ConnectorState
  /** Sorted by name; empty unless ready. The same array object until something changed. */
  tools(): readonly RegisteredTool[]
  /** Tools its upstream offers that are not registered, or the whole connector when it is not ready. */
  withheld(): readonly Withheld[]
  /** Declared tools that do not register here (a switch, no body), for operators: no session is told of them. */
  left?(): readonly Withheld[]
  /** Of `withheld`, the tools that wait for somebody to accept their definition. */
  closed?(): readonly ClosedTool[]
  /** Reads its upstream's list again, now. Why it could not be read; undefined when it was. */
  discover?(): Promise<string | undefined>
  call(call: UpstreamCall): Running
  /** Reads what `Meter.estimate` needs for a session's brand, if anything; quick, and never throws. Before an estimate. */
  prepare?(session: Session): Promise<void>
  close(): Promise<void>
}
