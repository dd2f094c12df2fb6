/** A keyring on a database of its own, a clock that stands still, and ways to make good and bad tokens. */
import { createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { eq } from 'drizzle-orm'
import type { JWK } from 'jose'
import type { Database } from '../../src/db/connect.ts'
import { signingKeys } from '../../src/db/schema.ts'
import { createSeal, type Seal } from '../../src/db/seal.ts'
import { createKeyring, type Keyring } from '../../src/session/keys.ts'
import { createTokens, type IssuerEntry, SESSION_TYP, type TokenParts, type Tokens } from '../../src/session/token.ts'
import { freshDatabase, quiet } from '../support/database.ts'
import { NOON, RESOURCE, roles, routes } from './fixtures.ts'

export interface World {
  readonly db: Database
  readonly seal: Seal
  readonly keyring: Keyring
  /** Milliseconds; move it to make time pass. */
  clock: { now: number }
  tokens(parts?: { issuers?: readonly IssuerEntry[]; record?: TokenParts['record'] }): Tokens
  /** The active private key and its kid, for tokens the gateway itself would never sign. */
  active(): Promise<{ key: KeyObject; kid: string; jwk: JWK }>
  close(): Promise<void>
}

export async function createWorld(): Promise<World> {
  const database = await freshDatabase()
  const { db } = database
  const seal = createSeal('a secret of the session tests, long enough')
  const keyring = await createKeyring({ db, seal, log: quiet })
  const clock = { now: NOON * 1000 }
  return {
    db,
    seal,
    keyring,
    clock,
    tokens: ({ issuers = [], record = async () => 'live' as const } = {}) =>
      createTokens({ keyring, resource: RESOURCE, issuers, roles, routes, now: () => clock.now, record }),
    async active() {
      const [row] = await db.orm.select().from(signingKeys).where(eq(signingKeys.state, 'active'))
      const jwk = JSON.parse(await seal.open(row!.sealedPrivate)) as JWK
      return { key: createPrivateKey({ key: jwk as never, format: 'jwk' }), kid: row!.kid, jwk }
    },
    async close() {
      await keyring.close()
      await database.close()
    },
  }
}

export const base64url = (value: string | Buffer) => Buffer.from(value).toString('base64url')
export const json = (value: unknown) => base64url(JSON.stringify(value))

/** Signs whatever header and payload texts it is given with Ed25519. */
export function signEd(header: object, payload: object | string, key: KeyObject): string {
  const input = `${json(header)}.${typeof payload === 'string' ? base64url(payload) : json(payload)}`
  return `${input}.${base64url(sign(null, Buffer.from(input), key))}`
}

/** A good header for a key. */
export const head = (kid: string, alg = 'EdDSA') => ({ alg, typ: SESSION_TYP, kid })
