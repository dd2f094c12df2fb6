/**
 * The upstream of a chaos run: it writes every execution down before it answers, looks at that moment whether the
 * gateway had a record and an approval of it, and springs the traps.
 * @module
 */
import { randomUUID } from 'node:crypto'
import { startUpstream, type ToolCall, type Upstream } from '../support/upstream.ts'
import type { Execution, Ledgers } from './ledgers.ts'
import type { Observer } from './observer.ts'
import type { Trap, Traps } from './traps.ts'

/** The header by which a replica says which it is. */
export const REPLICA = 'x-replica'

/** How long a trap waits for the gateway to stand before the lock; its statements give up after 1.5 s. */
const HELD_MS = 1_000

/** Starts it. The observer comes later than the upstream, which the gateways need at their start. */
export function startLedgerUpstream(
  ledgers: Ledgers,
  traps: Traps,
  observer: () => Observer | undefined,
): Promise<Upstream> {
  async function act(call: ToolCall): Promise<void> {
    const n = Number(call.args.n)
    const from = String(call.seen.headers[REPLICA])
    const trap = traps.spring(from, n)
    // Lost on its way: the gateway has claimed and sent, and the upstream never ran it.
    if (trap?.point === 'after claim') return void (await trap.kill())
    const execution: Execution = { n, nonce: randomUUID(), from, at: Date.now() }
    ledgers.executed(execution)
    execution.seen = await observer()?.look(n)
    if (trap !== undefined) return springAt(trap, call, execution)
    call.text(execution.nonce)
  }

  async function springAt(trap: Trap, call: ToolCall, { n, nonce }: Execution): Promise<void> {
    if (trap.point === 'after answer') {
      call.response.once('finish', () => void trap.kill())
      return call.text(nonce)
    }
    if (trap.point === 'after send') return void (await trap.kill())
    const held = await observer()?.holdCard(n)
    call.text(nonce)
    await held?.blocked(HELD_MS)
    await trap.kill()
    await held?.release()
  }

  return startUpstream({ behaviours: { act } })
}
