/**
 * Tokens of the gateways that the bench compares with: HS256, checked by jose once and then remembered until they expire.
 * @module
 */
import { jwtVerify, SignJWT } from 'jose'

const ISSUER = 'bench'

/** Signs a token that is good for two hours. */
export function mint(secret: string): Promise<string> {
  return new SignJWT()
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(ISSUER)
    .setAudience(ISSUER)
    .setSubject('caller')
    .setIssuedAt()
    .setExpirationTime('2h')
    .sign(Buffer.from(secret))
}

/** Builds a check of `Authorization` headers: at once for one that was seen before, else a promise. */
export function createCheck(secret: string): (authorization: string | undefined) => boolean | Promise<boolean> {
  const key = Buffer.from(secret)
  const goodUntil = new Map<string, number>()
  return (authorization) => {
    if (authorization === undefined) return false
    const until = goodUntil.get(authorization)
    if (until !== undefined) return Date.now() < until
    return jwtVerify(authorization.replace(/^Bearer /, ''), key, { issuer: ISSUER, audience: ISSUER }).then(
      ({ payload }) => {
        goodUntil.set(authorization, (payload.exp ?? 0) * 1000)
        return true
      },
      () => false,
    )
  }
}
