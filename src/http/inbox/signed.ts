/**
 * Who is signed in to the inbox: a sealed cookie that says who and until when, and never holds a key.
 * @module
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { z } from 'zod'
import type { Seal } from '../../db/seal.ts'

const signedIn = z.object({
  /** As the card and the audit name who decides. */
  by: z.string().min(1),
  /** Milliseconds since the epoch. */
  exp: z.number(),
  /** What every form of this sign-in carries. */
  csrf: z.string().min(16),
})

/** Somebody signed in. */
export type Signed = z.infer<typeof signedIn>

export interface SignIn {
  /** Compares the key and sets the cookie. Too many wrong keys, by whomever, close the door for a minute. */
  signIn(c: Context, key: string): Promise<'ok' | 'wrong' | 'too_many'>
  /** Who sent this request; undefined for nobody and for an old, changed or foreign cookie. */
  signed(c: Context): Promise<Signed | undefined>
  /** Whether a form's token is that of this sign-in. */
  isOwnForm(signed: Signed, csrf: string | null): boolean
  /** Takes the cookie back. */
  signOut(c: Context): void
}

const HOURS = 8
const LONGEST_COOKIE = 2_000
const TRIES = 10
const TRIES_MS = 60_000

/** Builds the door. `secure` when people come by https. */
export function createSignIn(parts: {
  readonly isAdmin: (authorization: string | undefined) => boolean
  readonly seal: Seal
  readonly secure: boolean
  readonly now: () => number
}): SignIn {
  const { isAdmin, seal, secure, now } = parts
  // Cookies do not tell ports apart: over plain http the name cannot be protected, over https it is.
  const name = secure ? '__Host-tollgate-inbox' : 'tollgate-inbox'
  const attributes = { path: '/', httpOnly: true, sameSite: 'Strict', secure } as const
  let wrong: number[] = []

  return {
    async signIn(c, key) {
      wrong = wrong.filter((at) => now() - at < TRIES_MS)
      if (wrong.length >= TRIES) return 'too_many'
      if (!isAdmin(`Bearer ${key}`)) {
        wrong.push(now())
        return 'wrong'
      }
      const signed: Signed = {
        by: 'operator',
        exp: now() + HOURS * 3_600_000,
        csrf: randomBytes(18).toString('base64url'),
      }
      setCookie(c, name, await seal.seal(JSON.stringify(signed)), { ...attributes, maxAge: HOURS * 3_600 })
      return 'ok'
    },

    async signed(c) {
      const sealed = getCookie(c, name)
      if (sealed === undefined || sealed.length > LONGEST_COOKIE) return undefined
      try {
        const signed = signedIn.parse(JSON.parse(await seal.open(sealed)))
        return signed.exp > now() ? signed : undefined
      } catch {
        return undefined
      }
    },

    isOwnForm({ csrf: own }, csrf) {
      const [wanted, sent] = [Buffer.from(own), Buffer.from(csrf ?? '')]
      return wanted.length === sent.length && timingSafeEqual(wanted, sent)
    },

    signOut(c) {
      deleteCookie(c, name, attributes)
    },
  }
}
