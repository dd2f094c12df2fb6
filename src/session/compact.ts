/**
 * The outside of a token, read strictly before any signature work: size, scheme, three parts, header and payload.
 * Pure. A signature library's defaults accept more than this gateway does (RFC 8725), so the form is judged here.
 * @module
 */
import { check, UnreadableJson } from '../json.ts'

/** The `typ` of a session token; a token of any other kind is not one (RFC 8725, explicit typing). */
export const SESSION_TYP = 'tollgate-session+jwt'

/** A kind of token: its `typ`, and what people call it. */
export interface Kind {
  readonly typ: string
  readonly what: string
}
const SESSION: Kind = { typ: SESSION_TYP, what: 'session token' }

/** The longest token that is looked at, in bytes. */
export const LONGEST_TOKEN = 8192

/**
 * Thrown for every token that is wrong in any way. `description` is for the `error_description` of the challenge
 * (RFC 6750: printable ASCII without quotes and backslashes) and says what to do; it repeats nothing secret.
 */
export class TokenRefused extends Error {
  override name = 'TokenRefused'
  readonly description: string
  /** The `error` of the challenge; undefined when no token was sent at all (RFC 6750, section 3.1). */
  readonly error: 'invalid_token' | undefined

  constructor(description: string, { tokenSent = true }: { readonly tokenSent?: boolean } = {}) {
    const plain = description
      .replaceAll('"', "'")
      .replaceAll('\\', '/')
      .replaceAll(/[^ -~]/g, '?')
    const cut = plain.length > 500 ? `${plain.slice(0, 497)}...` : plain
    super(cut)
    this.description = cut
    this.error = tokenSent ? 'invalid_token' : undefined
  }
}

/** A token's parts before anything in them is believed. */
export interface Compact {
  readonly token: string
  readonly header: { readonly alg: string; readonly kid: string | undefined }
  readonly payload: Readonly<Record<string, unknown>>
}

/** The token in an `Authorization` header. Throws TokenRefused. */
export function bearer(authorization: string | undefined, { what }: Kind = SESSION): string {
  if (authorization === undefined || authorization.trim() === '') {
    throw new TokenRefused(`Send the ${what} in the header Authorization: Bearer TOKEN.`, {
      tokenSent: false,
    })
  }
  if (authorization.length > LONGEST_TOKEN + 'Bearer '.length) {
    throw new TokenRefused(`The token is longer than ${LONGEST_TOKEN} bytes; ask for one that names fewer tools.`)
  }
  const token = /^bearer +([^\s,]+)$/i.exec(authorization)?.[1]
  if (token === undefined) {
    throw new TokenRefused(`The Authorization header must be the word Bearer, a space and one ${what}.`)
  }
  return token
}

const PARTS = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/
const BOUNDS = { depth: 8, values: 4000 }

/** Reads a token's form. Throws TokenRefused; the signature and the claims are judged by others. */
export function readCompact(token: string, kind: Kind = SESSION): Compact {
  const parts = PARTS.exec(token)
  if (parts === null) throw new TokenRefused(`This is no ${kind.what}: it must be three base64url parts with dots.`)
  const [, header, payload, signature] = parts as unknown as [string, string, string, string]
  decode(signature)
  return { token, header: readHeader(readObject(header), kind), payload: readObject(payload) }
}

function readHeader(header: Record<string, unknown>, kind: Kind): Compact['header'] {
  const stray = Object.keys(header).find((name) => name !== 'alg' && name !== 'typ' && name !== 'kid')
  if (stray !== undefined) {
    throw new TokenRefused(`The token's header may hold alg, typ and kid only, and it holds ${stray.slice(0, 40)}.`)
  }
  const { alg, typ, kid } = header
  if (typ !== kind.typ) throw new TokenRefused(`The token's header must say typ ${kind.typ}; this is another kind.`)
  if (typeof alg !== 'string') throw new TokenRefused("The token's header must name its alg.")
  if (kid !== undefined && (typeof kid !== 'string' || !/^[!-~]{1,200}$/.test(kid))) {
    throw new TokenRefused("The token's header must name its kid in at most 200 printable characters.")
  }
  return { alg, kid }
}

function readObject(part: string): Record<string, unknown> {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(decode(part))
    check(text, BOUNDS)
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch (error) {
    if (error instanceof TokenRefused) throw error
    // The JSON reader speaks of bodies; its reason stays true of a token's parts.
    const why = error instanceof UnreadableJson ? error.message.replace('The body', 'It') : 'It is not UTF-8 text.'
    throw new TokenRefused(`The token's header and payload must each be one JSON object. ${why}`)
  }
  throw new TokenRefused("The token's header and payload must each be one JSON object.")
}

/** Decodes base64url, and only its one canonical spelling: spare bits at the end would make two texts one token. */
function decode(part: string): Buffer {
  const bytes = Buffer.from(part, 'base64url')
  if (bytes.toString('base64url') !== part) throw new TokenRefused('The token is damaged: a part is not base64url.')
  return bytes
}
