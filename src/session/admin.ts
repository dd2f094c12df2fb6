/**
 * Whether a request carries the operator's admin key.
 * @module
 */
import { createHash, timingSafeEqual } from 'node:crypto'

const LONGEST_HEADER = 8192
const sha256 = (text: string) => createHash('sha256').update(text).digest()

/**
 * Returns the check of an `Authorization` header against the admin key. Digests are compared, in constant time, so that
 * neither the key's length nor how much of it was right shows. Throws when there is no key to compare with.
 */
export function createAdmin(adminKey: string): (authorization: string | undefined) => boolean {
  if (adminKey.trim() === '') throw new Error('The admin key is empty; set TOLLGATE_ADMIN_KEY to a long random text.')
  const wanted = sha256(adminKey)
  return function isAdmin(authorization) {
    if (authorization === undefined || authorization.length > LONGEST_HEADER) return false
    const key = /^bearer +(\S+)$/i.exec(authorization)?.[1]
    return key !== undefined && timingSafeEqual(sha256(key), wanted)
  }
}
