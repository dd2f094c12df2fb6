/**
 * Seals text at rest: credentials, private keys, the arguments and results of parked calls.
 * JWE in compact form, `dir` with A256GCM, under a key derived from TOLLGATE_SECRET.
 * @module
 */
import { createHash, hkdfSync } from 'node:crypto'
import { CompactEncrypt, compactDecrypt, decodeProtectedHeader } from 'jose'

export interface Seal {
  seal(text: string): Promise<string>
  /** Whether it is sealed with the secret of today, and not with the one before. */
  isCurrent(sealed: string): boolean
  /** The text again. Throws Unsealable for another secret's text, and for text that was changed. */
  open(sealed: string): Promise<string>
}

/** Sealed text that cannot be opened; the message says why and never holds any of it. */
export class Unsealable extends Error {
  override name = 'Unsealable'
}

/**
 * A seal for this secret. Sealed text names its key (8 hex digits of a hash), so that a changed secret is told apart.
 * What was sealed with `previous` still opens; nothing is sealed with it.
 */
export function createSeal(secret: string, previous?: string): Seal {
  const { key, kid } = keyFrom(secret)
  const keys = new Map(
    [...(previous === undefined ? [] : [keyFrom(previous)]), { key, kid }].map((one) => [one.kid, one.key]),
  )
  return {
    isCurrent: (sealed) => keyOf(sealed) === kid,
    async seal(text) {
      const plain = new TextEncoder().encode(text)
      return new CompactEncrypt(plain).setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid }).encrypt(key)
    },
    async open(sealed) {
      const opens = keys.get(String(keyOf(sealed)))
      if (opens === undefined) {
        throw new Unsealable('This was sealed with another TOLLGATE_SECRET. Start with the secret it was sealed with.')
      }
      try {
        const algorithms = { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] }
        const { plaintext } = await compactDecrypt(sealed, opens, algorithms)
        return new TextDecoder().decode(plaintext)
      } catch {
        throw new Unsealable('Sealed text in the database was changed; it cannot be opened. Restore it from a backup.')
      }
    },
  }
}

function keyFrom(secret: string): { readonly key: Uint8Array; readonly kid: string } {
  if (secret.length < 16)
    throw new Error('TOLLGATE_SECRET is too short: use at least 16 characters, best 32 random bytes.')
  const key = new Uint8Array(hkdfSync('sha256', secret, 'tollgate', 'seal at rest, version 1', 32))
  return { key, kid: createHash('sha256').update(key).digest('hex').slice(0, 8) }
}

function keyOf(sealed: string): unknown {
  try {
    return decodeProtectedHeader(sealed).kid
  } catch {
    throw new Unsealable('This is not sealed text.')
  }
}
