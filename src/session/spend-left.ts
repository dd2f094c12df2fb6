/**
 * What sessions have left of their per-run figures.
 * @module
 */
import type { Database } from '../db/connect.ts'
import { and, asc, eq, ne, type SQL, sql } from '../db/drizzle.ts'
import { sessionFigures } from '../db/schema.ts'
import type { Session } from '../policy/words.ts'
import { type Figures, figuresOf, left, RUN_USD } from './figures.ts'
import { runFigure } from './spend.ts'

/** One figure: decimals as text. `left` is below zero where calls came to more than they were estimated at. */
export interface Left {
  readonly most: string
  readonly handedOn: string
  /** Of calls whose end is not known yet, or whose outcome is not known. */
  readonly reserved: string
  readonly spent: string
  readonly left: string
}

/** What is left of a connector's allowance, by name. */
export interface ConnectorLeft extends Left {
  readonly connector: string
  readonly unit: string
}

/** As text without zeros at its end. */
const plain = (amount: SQL): SQL<string> => sql<string>`trim_scale(${amount})::text`

const columns = {
  most: plain(sql`session_figures.most`),
  handedOn: plain(sql`session_figures.carved`),
  reserved: plain(sql`session_figures.reserved`),
  spent: plain(sql`coalesce(session_figures.spent, 0)`),
  left: plain(left),
}

/**
 * What a session has left for a connector's bills in a unit; undefined where it has no such figure. `beside`: with the
 * reservation of this id not counted.
 */
export async function leftOf(
  db: Database,
  sessionId: string,
  connector: string,
  unit: string,
  beside?: string,
): Promise<Left | undefined> {
  const figure = runFigure(connector, unit)
  if (figure === undefined) return undefined
  const own = sql`coalesce((select reserved from spend where id = ${beside ?? null}::uuid and state in ('open', 'unknown')), 0)`
  const free = beside === undefined ? {} : { left: plain(sql`${left} + ${own}`) }
  const found = await db.orm
    .select({ ...columns, ...free })
    .from(sessionFigures)
    .where(and(eq(sessionFigures.sessionId, sessionId), eq(sessionFigures.figure, figure)))
  return found[0]
}

/** What a session has left of each allowance. */
export async function allLeft(db: Database, sessionId: string): Promise<ConnectorLeft[]> {
  const found = await db.orm
    .select({ figure: sessionFigures.figure, ...columns })
    .from(sessionFigures)
    .where(and(eq(sessionFigures.sessionId, sessionId), ne(sessionFigures.figure, RUN_USD)))
    .orderBy(asc(sessionFigures.figure))
  return found.map(({ figure, ...amounts }) => ({ ...named(figure), ...amounts }))
}

/** What a session has that was issued just now: all of it. */
export function untouched(session: Pick<Session, 'grant' | 'limits'>): ConnectorLeft[] {
  const figures: Figures = figuresOf(session)
  return Object.keys(figures)
    .filter((figure) => figure !== RUN_USD)
    .sort()
    .map((figure) => {
      const most = String(figures[figure])
      return { ...named(figure), most, handedOn: '0', reserved: '0', spent: '0', left: most }
    })
}

function named(figure: string): { connector: string; unit: string } {
  const at = figure.lastIndexOf('.')
  return { connector: figure.slice(0, at), unit: figure.endsWith('Usd') ? 'usd' : 'credits' }
}
