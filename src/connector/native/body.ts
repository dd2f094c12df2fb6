/**
 * The body of a tool: its input, what it says of its arguments before anything leaves, and what it does.
 * @module
 */
import type { z } from 'zod'
import type { Refusal } from './failure.ts'
import type { Http, Options, Reply } from './http.ts'
import type { Values } from './values.ts'

/** A JSON object, as a client gets it: text for the model, and the same as structured content. */
export type Result = Readonly<Record<string, unknown>>

/** What one run has to work with. No credential is in it, and nothing of the caller. */
export interface Run<A> {
  /** Checked against `input`, with defaults filled in. */
  readonly args: A
  /** The vendor. Ends with the call: when its time is up, or its caller cancels. */
  readonly http: Http
  /**
   * Names this call to a vendor that does a thing at most once for each key: the approval's id where a person approved
   * it, so that one approval has one effect; else one of its own.
   */
  readonly key: string
  /**
   * Fetches a file that the vendor links to, wherever that is: by https, from a public address, without any credential.
   * The link is a key to the file, so it is never given to the model.
   */
  readonly download: (url: string, options?: Pick<Options, 'capBytes' | 'headersMs'>) => Promise<Reply<unknown>>
  /** The vendor, for ten more seconds after the call ended: to stop at the vendor what goes on by itself. */
  readonly cleanup: Http
  /** The connection's fields that are no secrets. */
  readonly settings: Values
  /** Aborted when the call ends early. */
  readonly signal: AbortSignal
  /** Tells the caller how far it is, where it wants to know. */
  readonly progress: (message: string, done: number, total?: number) => void
  /** Waits; throws when the call ends meanwhile. */
  readonly wait: (ms: number) => Promise<void>
}

/** What calls of a tool come to, in the unit of the connector's `billing`; decimals as text ('0.0105'), never floats. */
export interface Price<A> {
  /** The most a call with these arguments comes to. Undefined: nobody can say, so a person decides. `prices`: see ConnectionKind. */
  estimate(args: A, prices: unknown): string | undefined
  /** What it came to, read from what `run` answered. Undefined: unknown, and the whole estimate is booked. */
  actual(result: Result): string | undefined
}

/** All of a tool but its name, its input and its facts. */
export interface Behaviour<A> {
  /** A few words for people. */
  readonly title: string
  /** For the model: what it does, what it costs, what it does not do. */
  readonly description: string
  /** Of a tool that asks for `mutations`: whether these arguments change anything. Pure; an error counts as yes. */
  mutates?(args: A): boolean
  /** A sentence where the arguments hold what is never sent, looked at as they came, before `input`. Pure; refuses as forbidden. */
  forbidden?(raw: unknown): string | undefined
  /** Arguments refused whatever a person says. Pure; before anybody is asked and before anything leaves. */
  refuse?(args: A, settings: Values): Refusal | undefined
  /** Of a tool that bills. */
  readonly cost?: Price<A>
  /** One sentence for the card: what would be done, where. Without it the card names the first arguments. */
  summary?(args: A, settings: Values): string
  /** How long a call may take in all, in milliseconds; 60,000 unless said, 300,000 at most. */
  readonly deadlineMs?: number
  /** Does it. A VendorFailure of `http` passes through; a Refusal is told to the model; any other error is a fault of ours. */
  run(run: Run<A>): Promise<Result>
}

/** A tool's body. */
export interface Body extends Behaviour<unknown> {
  /** A `z.strictObject`: what clients are shown as JSON Schema, and what every call is checked against. */
  readonly input: z.ZodObject
}

/** Ties a behaviour to the type of its input. */
export function body<S extends z.ZodObject>(written: { readonly input: S } & Behaviour<z.output<S>>): Body {
  return written
}
