/**
 * Who is signed in to the inbox: a sealed cookie that says who and until when, and never holds a key. An approver is
 * looked up at each request, so one whose token was revoked or has expired is out at the next.
 * @module
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { z } from 'zod'
import type { Seal } from '../../db/seal.ts'
import type { Approver } from '../../session/approvers.ts'
import type { Person } from '../person.ts'

const signedIn = z.object({
  /** Id of the approver; left away for the operator. */
  approver: z.string().min(1).optional(),
  /** Milliseconds since the epoch. */
  exp: z.number(),
  /** What every form of this sign-in carries. */
  csrf: z.string().min(16),
})

/** Somebody signed in. */
export interface Signed {
  readonly person: Person
  readonly csrf: string
}

export interface SignIn {
  /** Looks at the key and sets the cookie. Too many wrong keys, by whomever, close the door for a minute. */
  signIn(c: Context, key: string): Promise<'ok' | 'wrong' | 'too_many'>
  /** Who sent this request; undefined for nobody, for an old, changed or foreign cookie, and for an approver who is none any more. */
  signed(c: Context): Promise<Signed | undefined>
  /** Whether a form's token is that of this sign-in. */
  isOwnForm(signed: Signed, csrf: string | null): boolean
  /** Takes the cookie back. */
  signOut(c: Context): void
}

export interface SignInParts {
  readonly personOf: (authorization: string | undefined) => Promise<Person | undefined>
  /** The approver of an id while the token is neither revoked nor expired. */
  readonly approver: (id: string) => Promise<Approver | undefined>
  readonly seal: Seal
  /** Whether people come by https. */
  readonly secure: boolean
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

const HOURS = 8
const LONGEST_COOKIE = 2_000
const TRIES = 10
const TRIES_MS = 60_000

/** Builds the door. */
export function createSignIn({ personOf, approver, seal, secure, now }: SignInParts): SignIn {
  // Cookies do not tell ports apart: over plain http the name cannot be protected, over https it is.
  const name = secure ? '__Host-tollgate-inbox' : 'tollgate-inbox'
  const attributes = { path: '/', httpOnly: true, sameSite: 'Strict', secure } as const
  let wrong: number[] = []

  /** The person of a cookie as things stand now. */
  async function stillThere(id: string | undefined): Promise<Person | undefined> {
    if (id === undefined) return { kind: 'operator' }
    const found = await approver(id)
    return found && { kind: 'approver', id: found.id, name: found.name, brand: found.brand }
  }

  async function opened(sealed: string): Promise<z.infer<typeof signedIn> | undefined> {
    try {
      const read = signedIn.parse(JSON.parse(await seal.open(sealed)))
      return read.exp > now() ? read : undefined
    } catch {
      return undefined
    }
  }

  return {
    async signIn(c, key) {
      wrong = wrong.filter((at) => now() - at < TRIES_MS)
      if (wrong.length >= TRIES) return 'too_many'
      const person = await personOf(`Bearer ${key}`)
      if (person === undefined) {
        wrong.push(now())
        return 'wrong'
      }
      const cookie: z.infer<typeof signedIn> = {
        ...(person.kind === 'operator' ? {} : { approver: person.id }),
        exp: now() + HOURS * 3_600_000,
        csrf: randomBytes(18).toString('base64url'),
      }
      setCookie(c, name, await seal.seal(JSON.stringify(cookie)), { ...attributes, maxAge: HOURS * 3_600 })
      return 'ok'
    },

    async signed(c) {
      const sealed = getCookie(c, name)
      if (sealed === undefined || sealed.length > LONGEST_COOKIE) return undefined
      const read = await opened(sealed)
      const person = read && (await stillThere(read.approver))
      return person && { person, csrf: read.csrf }
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
