/**
 * What REST answers of cards, of approvals that stand, and of the people who decide.
 * @module
 */
import { z } from '@hono/zod-openapi'
import { CARD_STATUSES, SCOPES } from '../../approvals/cards.ts'
import { access, reason, time } from './schemas.ts'

const scope = z.enum(SCOPES)
const cost = z.object({ unit: z.string(), amount: z.string() })

/** A card as people see it. */
export const card = z
  .object({
    id: z.uuid(),
    brand: z.string(),
    sessionId: z.string(),
    role: z.string(),
    tool: z.string(),
    connector: z.string(),
    title: z.string(),
    summary: z.string(),
    arguments: z.unknown(),
    fingerprint: z.string(),
    digest: z.string(),
    access,
    rules: z.array(reason).readonly(),
    status: z.enum(CARD_STATUSES),
    createdAt: time,
    expiresAt: time,
    decidedAt: time.optional(),
    decidedBy: z.string().optional(),
    note: z.string().optional(),
    startedAt: time.optional(),
    endedAt: time.optional(),
    outcome: z.looseObject({ code: z.string(), isError: z.boolean().optional() }).optional(),
    upstream: z.string().openapi({ description: 'Digest of the far side it would go to.' }),
    cost: cost.optional(),
    shown: z.string().openapi({ description: 'Digest of what is shown; send it back with the decision.' }),
    scopes: z.array(scope).readonly().openapi({ description: 'How far a yes may go.' }),
    scope: scope.optional().openapi({ description: 'How far the yes went.' }),
    decidedVia: z.string().optional().openapi({ description: 'The door: rest, inbox or cli.' }),
    decidedAddress: z.string().optional(),
    standing: z.string().optional().openapi({ description: 'The standing approval that decided it.' }),
    settled: z.enum(['happened', 'did_not']).optional(),
    settledAt: time.optional(),
    settledBy: z.string().optional(),
  })
  .openapi('Card')

/** Every state a standing approval can be in. */
export const STANDING_STATES = ['live', 'revoked', 'ended', 'expired', 'used_up'] as const

/** A yes for more than one call. */
export const standing = z
  .object({
    id: z.uuid(),
    card: z.string().openapi({ description: 'The card it was given on.' }),
    brand: z.string(),
    sessionId: z.string().optional().openapi({ description: 'Left away: every session of the brand.' }),
    scope: z.enum(['session', 'always']),
    role: z.string(),
    tool: z.string(),
    connector: z.string(),
    title: z.string(),
    summary: z.string(),
    digest: z.string(),
    upstream: z.string(),
    similar: z
      .record(z.string(), z.union([z.string(), z.object({ max: z.number() }).readonly()]))
      .readonly()
      .optional()
      .openapi({ description: 'Which arguments may vary, and how far. Left away: exactly the call of the card.' }),
    left: z.number().optional().openapi({ description: 'Calls that are left. Left away: as many as come.' }),
    used: z.number(),
    createdAt: time,
    createdBy: z.string(),
    createdVia: z.string().optional(),
    note: z.string().optional(),
    expiresAt: time.optional(),
    lastUsedAt: time.optional(),
    revokedAt: time.optional(),
    revokedBy: z.string().optional(),
    state: z.enum(STANDING_STATES),
  })
  .openapi('StandingApproval')

/** A card that was just decided, and what a yes for more than once left standing. */
export const decidedCard = card.extend({ standingApproval: standing.optional() }).openapi('DecidedCard')

/** Who may decide the cards of a brand. */
export const approver = z
  .object({
    id: z.string(),
    brand: z.string(),
    name: z.string(),
    status: z.enum(['live', 'expired', 'revoked']),
    createdAt: time,
    createdBy: z.string(),
    expiresAt: time,
    revokedAt: time.optional(),
  })
  .openapi('Approver')

/** A new approver with the token, which is shown only here. */
export const issuedApprover = approver
  .extend({ token: z.string(), inbox: z.string().openapi({ description: 'Where the token signs in.' }) })
  .openapi('IssuedApprover')
