/**
 * Legacy MCP sessions (`Mcp-Session-Id`). The id is a sealed value that says what was agreed at `initialize`, so that
 * it survives a restart and is good on every replica; it never authenticates: the token does, on every request.
 * @module
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { ElicitationModes } from '../../connector/connector.ts'
import type { Session } from '../../policy/words.ts'

export interface LegacySession {
  readonly id: string
  readonly version: string
  readonly elicitation: ElicitationModes
}

export interface LegacySessions {
  /** Opens a session for this caller. */
  open(session: Session, version: string, elicitation: ElicitationModes): LegacySession
  /** The session behind an id, if it is this caller's and was not ended; a stranger's and a made-up id are the same. */
  find(session: Session, id: string): LegacySession | undefined
  /** Ends a session; false when there is none. */
  end(session: Session, id: string): boolean
}

const MOST_KEPT = 50_000

/** Builds the sessions of this process over a key all replicas share. */
export function createLegacySessions(key: Buffer): LegacySessions {
  const known = new Map<string, LegacySession & { readonly owner: string }>()
  const ended = new Set<string>()
  const seal = (payload: string): string => createHmac('sha256', key).update(payload).digest('base64url')

  function remember(id: string, owner: string, version: string, elicitation: ElicitationModes): LegacySession {
    const session = { id, owner, version, elicitation }
    known.set(id, session)
    if (known.size > MOST_KEPT) known.delete(known.keys().next().value as string)
    return session
  }

  function read(session: Session, id: string): LegacySession | undefined {
    const dot = id.indexOf('.')
    if (id.length > 512 || dot < 0 || !equal(seal(id.slice(0, dot)), id.slice(dot + 1))) return undefined
    const [version, modes, owner] = JSON.parse(Buffer.from(id.slice(0, dot), 'base64url').toString()) as string[]
    if (version === undefined || modes === undefined || owner === undefined || owner !== ownerOf(session))
      return undefined
    return remember(id, owner, version, { form: modes.includes('f'), url: modes.includes('u') })
  }

  return {
    open(session, version, elicitation) {
      const owner = ownerOf(session)
      const modes = `${elicitation.form ? 'f' : ''}${elicitation.url ? 'u' : ''}`
      const payload = JSON.stringify([version, modes, owner, randomBytes(9).toString('base64url')])
      const text = Buffer.from(payload).toString('base64url')
      return remember(`${text}.${seal(text)}`, owner, version, elicitation)
    },
    find(session, id) {
      if (ended.has(id)) return undefined
      const kept = known.get(id)
      if (kept === undefined) return read(session, id)
      return kept.owner === ownerOf(session) ? kept : undefined
    },
    end(session, id) {
      if (this.find(session, id) === undefined) return false
      known.delete(id)
      ended.add(id)
      if (ended.size > MOST_KEPT) ended.delete(ended.values().next().value as string)
      return true
    },
  }
}

const owners = new WeakMap<Session, string>()

/** Who a session id is bound to: the subject, so that a refreshed token of the same subject keeps its session. */
function ownerOf(session: Session): string {
  const kept = owners.get(session)
  if (kept !== undefined) return kept
  const text = JSON.stringify([session.issuer, session.brand, session.subject])
  const owner = createHash('sha256').update(text).digest('base64url').slice(0, 22)
  owners.set(session, owner)
  return owner
}

function equal(a: string, b: string): boolean {
  const left = Buffer.from(a)
  const right = Buffer.from(b)
  return left.length === right.length && timingSafeEqual(left, right)
}
