/**
 * The laws of money, held to one run: each card has its one row in the ledger, and the row says what became of the card.
 * @module
 */
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Law } from './checker.ts'
import type { Deployment } from './deployment.ts'

/** What the tool of a storm is to the gateway: a person decides each call, and each costs one credit. */
export const PAID = { access: 'spend', ask: true, grantable: true, cost: { unit: 'credits', amount: 1 } }

const LARGE = 1_000_000_000
/** A session that asks a person and has an allowance, which none of the shipped roles has. */
export const SHOPPER = {
  role: 'shopper',
  approval: { channel: 'inbox' },
  tools: ['up/*'],
  grant: { connectors: ['up'], allowance: { up: { perRunCredits: LARGE / 1_000, perDayCredits: LARGE } } },
}

/** The shipped policies, and that role beside them, in a folder of the storm's own. */
export function policiesIn(folder: string): string {
  const policies = join(folder, 'policies')
  cpSync(join(import.meta.dirname, '../../policies'), policies, { recursive: true })
  const reason = 'For storms.'
  const role = {
    role: 'shopper',
    title: 'Shopper',
    describes: 'Spends with a person.',
    asksPerson: true,
    given: 'asked',
    builtins: { tools: [], reason },
    holds: [{ tools: ['mcp__project__project_list'], reason }],
    connectors: { which: 'granted', reason },
    limits: { are: 'most', reason },
  }
  writeFileSync(join(policies, 'shopper.yaml'), JSON.stringify(role))
  return policies
}

/** The state that a card's row must have. What may have run keeps its reservation; what did not is given back. */
const OWED: Readonly<Record<string, string>> = {
  done: 'settled',
  unknown: 'unknown',
  failed: 'released',
  denied: 'released',
  expired: 'released',
  withdrawn: 'released',
}

/** Reads the ledger once all is quiet, and judges it. */
export async function judgeMoney({ observer: { sql }, ledgers }: Deployment): Promise<Law[]> {
  const cards = await sql`select cards.id, cards.status, spend.state, spend.reserved::float8 as reserved,
      spend.settled::float8 as settled
    from cards left join spend on spend.card = cards.id where cards.tool = 'mcp__up__act'`
  const strays = await sql`select id from spend where card is null or not exists (select from cards where id = card)`
  const figures = await sql`select f.session_id, f.reserved::float8 as reserved, coalesce(f.spent, 0)::float8 as spent,
      coalesce(sum(s.reserved) filter (where s.state in ('open', 'unknown')), 0)::float8 as held,
      coalesce(sum(s.settled), 0)::float8 as booked
    from session_figures f left join spend s on s.session_id = f.session_id and s.figure = f.figure
    where f.figure = 'up.perRunCredits' group by 1, 2, 3`
  const booked = cards.reduce((sum, { settled }) => sum + (settled ?? 0), 0)
  const unknown = cards.filter(({ state }) => state === 'unknown').length
  const ran = ledgers.executions.length
  return [
    {
      law: 'each card has its reservation, settled, released or kept as the card ended',
      broken: cards
        .filter(({ status, state }) => state !== OWED[status])
        .map(({ id, status, state }) => `card ${id} is ${status}, its reservation ${state}`),
    },
    { law: 'no amount is reserved but for a card', broken: strays.map(({ id }) => `row ${id}`) },
    {
      law: 'the balance of each allowance is what is settled plus what is still held',
      broken: figures
        .filter(({ reserved, spent, held, booked: sum }) => reserved !== held || spent !== sum)
        .map((row) => JSON.stringify(row)),
    },
    {
      law: 'nothing is charged twice, and nothing that ran goes uncharged',
      broken:
        booked <= ran && ran <= booked + unknown ? [] : [`${ran} ran, ${booked} are booked and ${unknown} are unknown`],
    },
  ]
}
