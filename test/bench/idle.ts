/**
 * What an idle session costs in memory: resident size after garbage collection, before and after many were opened.
 * @module
 */
import { Client } from './client.ts'
import type { Target } from './targets.ts'

/** Kibibytes. */
export interface Idle {
  readonly sessions: number
  readonly atStart: number
  readonly perSession: number
  readonly perSessionWithStream: number
}

const TRIAL = 20

/** Measures a target that was just started. Every session has a token of its own where tokens differ. */
export async function measureIdle(target: Target, sessions: number): Promise<Idle> {
  const atStart = await target.memory()
  const tokens = await target.tokens(sessions + TRIAL)
  const door = target.doors.opening!
  const all = tokens.map((token) => new Client({ ...door, token }))
  try {
    // The first ones load code and fill caches, which is no cost of a session.
    await open(all.slice(0, TRIAL))
    for (const client of all.slice(0, TRIAL)) await client.listen()
    const before = await target.memory()
    const clients = all.slice(TRIAL)
    await open(clients)
    const opened = await target.memory()
    for (const client of clients) await client.listen()
    const listening = await target.memory()
    return {
      sessions,
      atStart,
      perSession: (opened - before) / sessions,
      perSessionWithStream: (listening - before) / sessions,
    }
  } finally {
    for (const client of all) client.close()
  }
}

/** Opens sessions as clients do, which then keep no connection. */
async function open(clients: readonly Client[]): Promise<void> {
  for (const client of clients) {
    await client.open()
    await client.list()
    client.rest()
  }
}
