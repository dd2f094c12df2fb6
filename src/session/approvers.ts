/**
 * Approvers: people who may decide the cards of one brand. Each has a token of a kind of its own, which opens nothing
 * else, and a row that is looked up at every use: deciding goes at the pace of people. Owner of the table approvers.
 * @module
 */
import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { and, desc, eq, gt, isNull, type SQL, sql } from '../db/drizzle.ts'
import type { Audit, AuditEntry } from '../audit/audit.ts'
import type { Database } from '../db/connect.ts'
import { approvers } from '../db/schema.ts'
import { LONGEST_SESSION_DAYS } from './claims.ts'
import { bearer, type Compact, type Kind, readCompact, TokenRefused } from './compact.ts'
import type { Keyring } from './keys.ts'
import { createRefusals } from './refusals.ts'
import { checkOwnSignature, wrongTimes } from './token.ts'

/** The `typ` of an approver token; never that of a session (RFC 8725, section 3.11). */
export const APPROVER: Kind = { typ: 'tollgate-approver+jwt', what: 'approver token' }

/** How long a token may live, in seconds. Retired keys are kept for checking no longer than the longest. */
export const APPROVER_TTL = { least: 60, most: LONGEST_SESSION_DAYS * 86_400, usual: 30 * 86_400 } as const

/** A person whose token was good a moment ago. */
export interface Approver {
  readonly id: string
  readonly brand: string
  readonly name: string
  readonly expiresAt: Date
}

/** An approver as recorded, whatever became of the token. */
export interface StoredApprover extends Approver {
  readonly createdBy: string
  readonly createdAt: Date
  readonly revokedAt: Date | null
  /** By the database's clock. */
  readonly state: 'live' | 'expired' | 'revoked'
}

/** Thrown where a live approver of the brand has the name already: a decision names one person. */
export class NameTaken extends Error {
  override name = 'NameTaken'
  readonly approver: StoredApprover
  constructor(approver: StoredApprover) {
    super(`The brand ${approver.brand} has an approver ${approver.name} already.`)
    this.approver = approver
  }
}

export interface Approvers {
  /** A new approver and the token, which is kept nowhere. Throws NameTaken, and RangeError for a ttl out of bounds. */
  issue(request: {
    readonly brand: string
    readonly name: string
    readonly ttlSeconds?: number | undefined
    readonly by?: string
  }): Promise<{ readonly approver: StoredApprover; readonly token: string }>
  /** Who sends this `Authorization` header; undefined, and a row of the audit, for a token that is wrong in any way. */
  verify(authorization: string | undefined): Promise<Approver | undefined>
  /** The approver of this id while the token is neither revoked nor expired. */
  find(id: string): Promise<Approver | undefined>
  /** Newest first. */
  list(query: {
    readonly brand?: string | undefined
    readonly limit: number
    readonly cursor?: string | undefined
  }): Promise<{
    readonly items: readonly StoredApprover[]
    readonly nextCursor: string | undefined
  }>
  /** Revokes once. The approver as it stands, undefined where there is none. */
  revoke(id: string, by?: string): Promise<StoredApprover | undefined>
  /** Writes down that an approver token was used where it opens nothing. */
  refused(reason: string): void
}

export interface ApproversParts {
  readonly db: Database
  readonly audit: Audit
  readonly keyring: Keyring
  /** `iss` of the gateway's own tokens. */
  readonly resource: string
  /** `aud` of approver tokens: the address of the cards. */
  readonly audience: string
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Strict, since nobody but this gateway signs them. */
const approverClaims = z.strictObject({
  iss: z.string(),
  aud: z.string(),
  jti: z.string().min(1).max(100),
  brand: z.string().min(1).max(300),
  name: z.string().min(1).max(300),
  iat: z.int().nonnegative(),
  exp: z.int().nonnegative(),
})
type ApproverClaims = z.output<typeof approverClaims>

const columns = {
  id: approvers.id,
  brand: approvers.brand,
  name: approvers.name,
  createdBy: approvers.createdBy,
  createdAt: approvers.createdAt,
  expiresAt: approvers.expiresAt,
  revokedAt: approvers.revokedAt,
  state: sql<StoredApprover['state']>`case when ${approvers.revokedAt} is not null then 'revoked'
    when ${approvers.expiresAt} <= now() then 'expired' else 'live' end`,
}
const live = and(isNull(approvers.revokedAt), gt(approvers.expiresAt, sql`now()`))

/** Builds the room's part. */
export function createApprovers({ db, audit, keyring, resource, audience, now }: ApproversParts): Approvers {
  const recordRefusal = createRefusals(audit)

  /** What a token says, once its form, signature, addressee and times are good. Throws TokenRefused. */
  async function believed(compact: Compact): Promise<ApproverClaims> {
    const { payload } = compact
    if (payload.iss !== resource) throw new TokenRefused(`The iss of an approver token must be ${resource}.`)
    if (payload.aud !== audience) {
      throw new TokenRefused(`The token is for another audience; its aud must be the one text ${audience}.`)
    }
    await checkOwnSignature(compact, keyring)
    const read = approverClaims.safeParse(payload)
    if (!read.success) {
      const claims = read.error.issues.map(({ path }) => path.join('.') || 'the payload').join(', ')
      throw new TokenRefused(`Claims of the approver token are missing or wrong: ${claims}.`)
    }
    const problem = wrongTimes(read.data, now())
    if (problem !== undefined) throw new TokenRefused(problem)
    return read.data
  }

  const about = ({ id, brand, name }: Pick<Approver, 'id' | 'brand' | 'name'>): Omit<AuditEntry, 'kind'> => ({
    brand,
    subject: id,
    reason: `approver ${name}`,
  })

  async function find(id: string): Promise<Approver | undefined> {
    const [row] = await db.orm
      .select(columns)
      .from(approvers)
      .where(and(eq(approvers.id, id), live))
    return row
  }

  return {
    find,

    async issue({ brand, name, ttlSeconds = APPROVER_TTL.usual, by = 'operator' }) {
      if (!(ttlSeconds >= APPROVER_TTL.least && ttlSeconds <= APPROVER_TTL.most)) {
        throw new RangeError(`An approver token lives ${APPROVER_TTL.least} to ${APPROVER_TTL.most} seconds.`)
      }
      const iat = Math.floor(now() / 1000)
      const exp = iat + Math.trunc(ttlSeconds)
      const id = `a_${randomBytes(16).toString('base64url')}`
      const token = await keyring.sign({ iss: resource, aud: audience, jti: id, brand, name, iat, exp }, APPROVER.typ)
      const approver = await audit.transaction(async (tx, record) => {
        // One after the other for each name, or two at once would both find it free.
        await tx.execute(sql`select pg_advisory_xact_lock(hashtext(${`approver ${brand} ${name}`}))`)
        const same = and(eq(approvers.brand, brand), eq(approvers.name, name), live)
        const [taken] = await tx.select(columns).from(approvers).where(same)
        if (taken !== undefined) throw new NameTaken(taken)
        const [row] = await tx
          .insert(approvers)
          .values({ id, brand, name, createdBy: by, expiresAt: new Date(exp * 1000) })
          .returning(columns)
        record({ kind: 'approver.issued', ...about(row!), by })
        return row!
      })
      return { approver, token }
    },

    async verify(authorization) {
      let claims: ApproverClaims | undefined
      try {
        claims = await believed(readCompact(bearer(authorization, APPROVER), APPROVER))
        const approver = await find(claims.jti)
        if (approver?.brand === claims.brand && approver.name === claims.name) return approver
        throw new TokenRefused('The approver token was revoked or has expired; ask the operator for a new one.')
      } catch (error) {
        if (!(error instanceof TokenRefused)) throw error
        const whose = claims === undefined ? {} : { brand: claims.brand, subject: claims.jti }
        if (authorization !== undefined) recordRefusal({ kind: 'auth.refused', ...whose, reason: error.description })
        return undefined
      }
    },

    async list({ brand, limit, cursor }) {
      const wanted: SQL[] = []
      if (brand !== undefined) wanted.push(eq(approvers.brand, brand))
      if (cursor !== undefined) {
        wanted.push(
          sql`(${approvers.createdAt}, ${approvers.id}) < (select created_at, id from approvers where id = ${cursor})`,
        )
      }
      const found = await db.orm
        .select(columns)
        .from(approvers)
        .where(and(...wanted))
        .orderBy(desc(approvers.createdAt), desc(approvers.id))
        .limit(limit + 1)
      const items = found.slice(0, limit)
      return { items, nextCursor: found.length > limit ? items.at(-1)?.id : undefined }
    },

    revoke(id, by = 'operator') {
      return audit.transaction(async (tx, record) => {
        const [revoked] = await tx
          .update(approvers)
          .set({ revokedAt: sql`now()` })
          .where(and(eq(approvers.id, id), isNull(approvers.revokedAt)))
          .returning(columns)
        if (revoked !== undefined) {
          record({ kind: 'approver.revoked', ...about(revoked), by })
          return revoked
        }
        const [row] = await tx.select(columns).from(approvers).where(eq(approvers.id, id))
        return row
      })
    },

    refused: (reason) => recordRefusal({ kind: 'auth.refused', reason }),
  }
}
