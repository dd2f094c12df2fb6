/**
 * Who gets into /v1: the operator everywhere, an approver at the cards only. A key counts in the Authorization header and
 * nowhere else, so no link that somebody opens carries one.
 * @module
 */
import type { Context, Next } from 'hono'
import { APPROVER } from '../../session/approvers.ts'
import { LONGEST_TOKEN, SESSION_TYP } from '../../session/compact.ts'
import { createPersonOf, type Person } from '../person.ts'
import { problem } from '../problem.ts'
import type { ApiParts } from './parts.ts'

declare module 'hono' {
  interface ContextVariableMap {
    /** Who sent a request below /v1; set before any route sees it. */
    person: Person
  }
}

const CARDS = '/v1/approvals'
const ADMIN_KEY = 'TOLLGATE_ADMIN_KEY, or in the file admin-key of the data folder'

/** Builds the middleware. It answers 401 with a challenge (RFC 6750) to whoever may not come in. */
export function createAdmit({ isAdmin, approvers }: Pick<ApiParts, 'isAdmin' | 'approvers'>) {
  const personOf = createPersonOf({ isAdmin, approvers })

  return async function admit(c: Context, next: Next): Promise<Response | undefined> {
    const authorization = c.req.header('authorization')
    const atCards = c.req.path === CARDS || c.req.path.startsWith(`${CARDS}/`)
    const person = atCards ? await personOf(authorization) : isAdmin(authorization) ? OPERATOR : undefined
    if (person !== undefined) {
      c.set('person', person)
      await next()
      return undefined
    }
    const detail = refusal(authorization, atCards)
    if (!atCards && typOf(authorization) === APPROVER.typ) approvers.refused(detail)
    const error = authorization === undefined ? '' : ', error="invalid_token"'
    const challenge = `Bearer realm="tollgate"${error}, error_description="${detail}"`
    return problem(401, 'unauthorized', detail, {}, { 'www-authenticate': challenge })
  }
}

const OPERATOR: Person = { kind: 'operator' }

/** Says which of the usual mistakes it was. */
function refusal(authorization: string | undefined, atCards: boolean): string {
  if (authorization === undefined) {
    return atCards
      ? `Send an approver token, or the admin key, as Authorization: Bearer; the key is ${ADMIN_KEY}.`
      : `Send the admin key as Authorization: Bearer; it is ${ADMIN_KEY}.`
  }
  const typ = typOf(authorization)
  if (typ === APPROVER.typ) {
    return atCards
      ? 'The approver token is wrong, expired or revoked; ask the operator for a new one.'
      : 'This is an approver token, which opens /v1/approvals and the inbox only; this route takes the admin key.'
  }
  if (typ === SESSION_TYP || /^bearer +eyJ/i.test(authorization)) {
    return `This is a session token, which opens /mcp only; ${atCards ? 'cards take an approver token or the admin key' : 'the REST API takes the admin key'}.`
  }
  return `The admin key is wrong; it is ${ADMIN_KEY}.`
}

/** The `typ` that a token says it has; good for words only, since nothing of it was checked. */
function typOf(authorization: string | undefined): unknown {
  if (authorization === undefined || authorization.length > LONGEST_TOKEN + 'Bearer '.length) return undefined
  const header = /^bearer +([\w-]+)\./i.exec(authorization)?.[1]
  try {
    return JSON.parse(Buffer.from(header ?? '', 'base64url').toString()).typ
  } catch {
    return undefined
  }
}
