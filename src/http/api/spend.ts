/**
 * The spend ledger over REST: its rows, and their sums.
 * @module
 */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { SPEND_STATES } from '../../db/schema.ts'
import { listSpend, type SpendRow, sumSpend, TOTALS_BY } from '../../session/spend-read.ts'
import { answer, answers } from './answer.ts'
import type { ApiParts } from './parts.ts'
import * as requests from './requests.ts'
import * as schemas from './schemas.ts'

const decimal = z.string().openapi({ description: 'A decimal.', example: '0.0105' })

const row = z
  .object({
    id: z.string(),
    state: z.enum(SPEND_STATES).openapi({
      description: 'open: reserved, not ended. unknown: it may have been billed, so all of it stays reserved.',
    }),
    brand: z.string(),
    session: z.string(),
    role: z.string(),
    connector: z.string(),
    tool: z.string(),
    unit: z.string(),
    reserved: decimal.openapi({ description: 'The most it could come to, as reserved before the call.' }),
    settled: decimal
      .nullable()
      .openapi({ description: 'What it came to, which may be more; null where nothing is booked.' }),
    toppedUp: decimal.optional().openapi({ description: 'What a person raised the run’s allowance by for it.' }),
    card: z.string().optional(),
    attempt: z.string().optional(),
    day: z.string().openapi({ description: 'Its one day, in UTC.' }),
    createdAt: schemas.time,
    endedAt: schemas.time.optional(),
  })
  .openapi('Spend')

const total = z
  .object({
    connector: z.string().optional(),
    session: z.string().optional(),
    day: z.string().optional(),
    brand: z.string(),
    unit: z.string(),
    calls: z.int(),
    settled: decimal,
    open: decimal,
    unknown: decimal,
  })
  .openapi('SpendTotal')

const real = (day: string): boolean => new Date(`${day}T00:00:00Z`).toJSON()?.slice(0, 10) === day
const filter = {
  brand: requests.filter,
  connector: requests.filter,
  session: requests.filter,
  day: z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}$/, 'a day such as 2026-03-01, in UTC')
    .refine((day) => !/^\d{4}-\d{2}-\d{2}$/.test(day) || real(day), 'there is no such day')
    .optional(),
  state: z.enum(SPEND_STATES).optional(),
}

const listRoute = createRoute({
  method: 'get',
  path: '/v1/spend',
  summary: 'List what calls were reserved and booked at, newest first',
  request: { query: z.strictObject({ ...filter, ...requests.page }) },
  responses: answers(200, 'Rows of the ledger.', schemas.listOf(row), 422, 503),
})

const totalsRoute = createRoute({
  method: 'get',
  path: '/v1/spend/totals',
  summary: 'Sum the ledger per connector, session or day, and brand and unit',
  request: {
    query: z.strictObject({
      by: z.enum(TOTALS_BY).default('connector'),
      ...filter,
      limit: z.coerce.number().int().min(1).max(1000).default(200),
    }),
  },
  responses: answers(200, 'Sums; those of the latest calls first.', z.object({ items: z.array(total) }), 422, 503),
})

/** Adds the routes. */
export function addSpend(app: OpenAPIHono, { db }: ApiParts): void {
  app.openapi(listRoute, async (c) => {
    const { items, nextCursor } = await listSpend(db, c.req.valid('query'))
    return answer(schemas.listOf(row), { items: items.map(shown), nextCursor: nextCursor ?? null })
  })

  app.openapi(totalsRoute, async (c) => {
    const { by, ...query } = c.req.valid('query')
    const found = await sumSpend(db, by, query)
    const items = found.map(({ key, ...sums }) => ({ [by]: key, ...sums }))
    return answer(z.object({ items: z.array(total) }), { items })
  })
}

function shown(entry: SpendRow): z.input<typeof row> {
  const { sessionId, toppedUp, card, attempt, createdAt, endedAt, ...rest } = entry
  return {
    ...rest,
    session: sessionId,
    createdAt: createdAt.toISOString(),
    ...(Number(toppedUp) > 0 ? { toppedUp } : {}),
    ...(card === null ? {} : { card }),
    ...(attempt === null ? {} : { attempt }),
    ...(endedAt === null ? {} : { endedAt: endedAt.toISOString() }),
  }
}
