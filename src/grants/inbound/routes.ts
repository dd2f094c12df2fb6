/**
 * Where a vendor tells of what came in for a connection: an address that only who has it can know, and the secret the
 * vendor signs with. Owner of the table inbound_routes. Neither secret can be read back; the address is not even kept.
 * @module
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Audit } from '../../audit/audit.ts'
import type { Database } from '../../db/connect.ts'
import { and, eq, isNotNull } from '../../db/drizzle.ts'
import { inboundRoutes } from '../../db/schema.ts'
import { sql } from '../../db/drizzle.ts'
import type { Seal } from '../../db/seal.ts'
import type { Where } from '../connections/rows.ts'
import { openSecrets, sealSecrets } from '../connections/secrets.ts'

/** What can be shown of a route. */
export interface InboundRoute extends Where {
  /** Whether the vendor's signing secret was stated. */
  readonly signs: boolean
  readonly createdAt: Date
  readonly changedAt: Date
  readonly changedBy: string
}

export interface InboundRoutes {
  /** Makes the route of a connection, or another address in the place of the one before; answers the secret of it. */
  address(where: Where, by: string): Promise<{ readonly route: InboundRoute; readonly secret: string }>
  /** Keeps the vendor's signing secret; undefined where there is no route. */
  sign(where: Where, signingSecret: string, by: string): Promise<InboundRoute | undefined>
  get(where: Where): Promise<InboundRoute | undefined>
  remove(where: Where, by: string): Promise<InboundRoute | undefined>
  /** The route of an address and its signing secret, if one was stated. Undefined for any address that is none. */
  find(secret: string): Promise<{ readonly where: Where; readonly signingSecret: string | undefined } | undefined>
  /** Seals anew what is sealed with the secret before; says how many. */
  reseal(): Promise<number>
}

export interface InboundRoutesParts {
  readonly db: Database
  readonly audit: Audit
  readonly seal: Seal
  /** For the marks of addresses. */
  readonly key: Uint8Array
}

/** 256 bits in base64url; nothing else is looked up. */
const SECRET = /^[A-Za-z0-9_-]{43}$/

/** Builds the routes' room. */
export function createInboundRoutes({ db, audit, seal, key }: InboundRoutesParts): InboundRoutes {
  const markOf = (secret: string): string => createHmac('sha256', key).update(secret).digest('hex')
  const at = ({ brand, slug }: Where) => and(eq(inboundRoutes.brand, brand), eq(inboundRoutes.slug, slug))
  const changed = (by: string) => ({ changedAt: sql`now()`, changedBy: by })
  const entry = ({ brand, slug }: Where, by: string, reason: string) =>
    ({ kind: 'connection.changed', brand, connector: slug, subject: `${slug} inbound`, by, reason }) as const

  return {
    async address(where, by) {
      const secret = randomBytes(32).toString('base64url')
      const mark = markOf(secret)
      const values = { brand: where.brand, slug: where.slug, mark, changedBy: by }
      const route = await audit.transaction(async (tx, record) => {
        const target = [inboundRoutes.brand, inboundRoutes.slug]
        const set = { mark, ...changed(by) }
        const [row] = await tx.insert(inboundRoutes).values(values).onConflictDoUpdate({ target, set }).returning()
        record(entry(where, by, 'another address for inbound mail; any before it is closed'))
        return toRoute(row as Row)
      })
      return { route, secret }
    },
    async sign(where, signingSecret, by) {
      const sealedSecret = await sealSecrets(seal, where, { signingSecret })
      return audit.transaction(async (tx, record) => {
        const set = { sealedSecret, ...changed(by) }
        const [row] = await tx.update(inboundRoutes).set(set).where(at(where)).returning()
        if (row !== undefined) record(entry(where, by, 'the signing secret of inbound mail stated'))
        return row && toRoute(row)
      })
    },
    async get(where) {
      const [row] = await db.orm.select().from(inboundRoutes).where(at(where))
      return row && toRoute(row)
    },
    remove: (where, by) =>
      audit.transaction(async (tx, record) => {
        const [row] = await tx.delete(inboundRoutes).where(at(where)).returning()
        if (row !== undefined) record(entry(where, by, 'the address for inbound mail removed'))
        return row && toRoute(row)
      }),
    async find(secret) {
      if (!SECRET.test(secret)) return undefined
      // Looked up by a mark that nobody without the key can steer, so the time it takes tells nothing of the secret.
      const mark = markOf(secret)
      const [row] = await db.orm.select().from(inboundRoutes).where(eq(inboundRoutes.mark, mark))
      if (row === undefined || !timingSafeEqual(Buffer.from(row.mark), Buffer.from(mark))) return undefined
      const where = { brand: row.brand, slug: row.slug }
      if (row.sealedSecret === null) return { where, signingSecret: undefined }
      return { where, signingSecret: (await openSecrets(seal, where, row.sealedSecret)).signingSecret }
    },
    async reseal() {
      const found = await db.orm.select().from(inboundRoutes).where(isNotNull(inboundRoutes.sealedSecret))
      const old = found.filter(({ sealedSecret }) => sealedSecret !== null && !seal.isCurrent(sealedSecret))
      for (const row of old) {
        const before = row.sealedSecret as string
        const sealedSecret = await sealSecrets(seal, row, await openSecrets(seal, row, before))
        // Stated anew meanwhile, it was sealed with today's secret.
        const still = and(at(row), eq(inboundRoutes.sealedSecret, before))
        await db.orm.update(inboundRoutes).set({ sealedSecret }).where(still)
      }
      return old.length
    },
  }
}

type Row = typeof inboundRoutes.$inferSelect

function toRoute({ brand, slug, sealedSecret, createdAt, changedAt, changedBy }: Row): InboundRoute {
  return { brand, slug, signs: sealedSecret !== null, createdAt, changedAt, changedBy }
}
