/**
 * An access token that goes with each request to an upstream, and is renewed where the upstream refuses it.
 * @module
 */

/** There is no token right now. The message says why and what a person can do; nothing secret is in it. */
export class NoToken extends Error {
  override name = 'NoToken'
}

export interface Bearer {
  /** A token to send; where `refused` is given, another than that one, if there is another. Rejects with NoToken. */
  token(refused?: string): Promise<string>
  /** The tokens handed out of late, which no error or log may show. */
  recent(): readonly string[]
}
