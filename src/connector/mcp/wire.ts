/**
 * What carries JSON-RPC texts to an upstream and back. HTTP and stdio are both this: over HTTP every request is its
 * own POST whose answer is JSON or an event stream; over stdio all messages share two pipes.
 * @module
 */
import type { Message } from './message.ts'

/** Most bytes of one message from an upstream (16 MiB). */
export const MESSAGE_LIMIT = 16 * 1024 * 1024

/** One request on its way out. Ids are the gateway's own, and each is also the progress token of its request. */
export interface Outgoing {
  readonly id: number
  /** The whole JSON-RPC message; one line, no line breaks. */
  readonly text: string
  readonly method: string
  /** What `Mcp-Name` says over modern HTTP (a tool's name); undefined for methods without. */
  readonly name: string | undefined
  /** Further headers over modern HTTP, names and values in turn; stdio has none. */
  readonly headers?: readonly string[]
}

/** Why nothing came, or came no further. */
export interface WireProblem {
  /**
   * `unreachable`: no connection, or the process is not there. `broken`: the connection or process went away.
   * `refused`: an HTTP status that is no answer. `garbled`: what came is no JSON-RPC. `too-large`: above MESSAGE_LIMIT.
   * `closed`: this side closed the wire.
   */
  readonly kind: 'unreachable' | 'broken' | 'refused' | 'garbled' | 'too-large' | 'closed'
  /** One sentence for people: bounded, redacted, without the upstream's name. */
  readonly reason: string
  /** Whether bytes of the request may have reached the upstream. */
  readonly ran: 'no' | 'maybe'
  /** HTTP status and start of the body, of a `refused`. */
  readonly status?: number
  readonly body?: string
}

/** The ears of one request. */
export interface Exchange {
  /** Called for each message that belongs to this request: progress, server requests (HTTP), the answer. */
  onMessage(message: Message): void
  /** Called once and last, also after the answer; with a problem when it ended before its time. Not after a drop. */
  onEnd(problem: WireProblem | undefined): void
}

/** The ears of a wire, for what belongs to no request. */
export interface WireEvents {
  /** A notice or a request of the upstream, outside any exchange. */
  onMessage(message: Message): void
  /** The wire is gone for good and every exchange has ended (a child that exited). HTTP never calls it. */
  onClose(problem: WireProblem): void
}

/** One session with an upstream. */
export interface Wire {
  /**
   * Sends a request. The returned function forgets the exchange, without telling the upstream over stdio;
   * over HTTP it aborts the POST, which is how a modern call is cancelled.
   */
  request(outgoing: Outgoing, exchange: Exchange): () => void
  /** Sends a notification or an answer to the upstream's request. Resolves with a problem when it was not taken. */
  post(text: string): Promise<WireProblem | undefined>
  /** The handshake is over: from now on this version (and over HTTP its headers) goes with every message. */
  agree(version: string): void
  /** Whether the upstream keeps a session for this wire (a child process, or HTTP with `Mcp-Session-Id`). */
  readonly hasSession: boolean
  /**
   * Opens the legacy stream of notices (HTTP GET); they arrive at `WireEvents.onMessage`. `ended` is called once when
   * it ends or is refused, `opened` when it stands. Over stdio notices come anyway: nothing is opened, nothing called.
   */
  listen(ended: (problem: WireProblem | undefined) => void, opened?: () => void): () => void
  /** Ends the session (HTTP DELETE, or the child) and every open exchange with a `closed` problem. Never rejects. */
  close(): Promise<void>
}

/** A way to one upstream, from which wires are opened. */
export interface Transport {
  readonly kind: 'http' | 'stdio'
  /** For people: an origin and path without query and credentials, or the command's name. */
  readonly label: string
  /** Opens a wire at once; what fails later is told to its exchanges and events. Each stdio wire is its own child. */
  open(events: WireEvents): Wire
  /** Closes what the wires share. Close the wires first. */
  close(): Promise<void>
}
