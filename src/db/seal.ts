/**
 * Seals text at rest: credentials, private keys, the arguments and results of parked calls.
 * JWE in compact form, `dir` with A256GCM, under a key derived from TOLLGATE_SECRET.
 * @module
 */
import { createHash, hkdfSync } from 'node:crypto'
import { CompactEncrypt, compactDecrypt, decodeProtectedHeader } from 'jose'

export interface Seal {
  seal(text: string): Promise<string>
  /** The text again. Throws Unsealable for another secret's text, and for text that was changed. */
  open(sealed: string): Promise<string>
}

/** Sealed text that cannot be opened; the message says why and never holds any of it. */
export class Unsealable extends Error {
  override name = 'Unsealable'
}

/** A seal for this secret. Sealed text names its key (8 hex digits of a hash), so that a changed secret is told apart. */
export function createSeal(secret: string): Seal {
  if (secret.length < 16)
    throw new Error('TOLLGATE_SECRET is too short: use at least 16 characters, best 32 random bytes.')
  const key = new Uint8Array(hkdfSync('sha256', secret, 'tollgate', 'seal at rest, version 1', 32))
  const kid = createHash('sha256').update(key).digest('hex').slice(0, 8)
  return {
    async seal(text) {
      const plain = new TextEncoder().encode(text)
      return new CompactEncrypt(plain).setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid }).encrypt(key)
    },
    async open(sealed) {
      if (keyOf(sealed) !== kid) {
        throw new Unsealable('This was sealed with another TOLLGATE_SECRET. Start with the secret it was sealed with.')
      }
      try {
        const algorithms = { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] }
        const { plaintext } = await compactDecrypt(sealed, key, algorithms)
        return new TextDecoder().decode(plaintext)
      } catch {
        throw new Unsealable('Sealed text in the database was changed; it cannot be opened. Restore it from a backup.')
      }
    },
  }
}

function keyOf(sealed: string): unknown {
  try {
    return decodeProtectedHeader(sealed).kid
  } catch {
    throw new Unsealable('This is not sealed text.')
  }
}
