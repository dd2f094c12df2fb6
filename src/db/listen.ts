/**
 * Hears notifications over a connection of its own, asks it every few seconds whether it is still there, and takes a
 * new one when it is not.
 * @module
 */
import { CHANNEL, type Ears, readEvent } from './events.ts'
import type { Log } from './log.ts'
import { createConnection, type PoolOptions } from './pool.ts'

const HEARTBEAT_MS = 5000
const RETRY_MS = 200

/** Starts listening; resolves after the first attempt. Keeps trying until closed. */
export async function keepListening(options: PoolOptions, ears: Ears, log: Log): Promise<{ close(): void }> {
  let closed = false
  let wake = () => {}
  /** Sleeps, or wakes early when the connection ends or the listening does. */
  const rest = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  /** Said once for each time that nothing is heard. */
  let complained = false

  async function listenOnce(started: () => void): Promise<void> {
    let over = false
    const connection = createConnection(options, {
      heard: (payload) => {
        const event = readEvent(payload)
        if (event !== undefined) ears.tellAll(event)
      },
      // A connection that was given up already must not cut the pause before the next.
      closed: () => {
        if (!over) wake()
      },
    })
    try {
      await connection.ask(`listen ${CHANNEL}`, [], 'objects')
      if (closed) return
      started()
      complained = false
      ears.tellAll({ kind: 'listening' })
      while (!closed && !connection.lost()) {
        await rest(HEARTBEAT_MS)
        if (!closed && !connection.lost()) await connection.ask('select 1', [], 'objects')
      }
      if (!closed) log.warn({}, 'The connection that hears notifications ended; taking a new one.')
    } catch (error) {
      if (!closed && !complained) {
        log.warn({ reason: String(error) }, 'Not hearing notifications from the database; trying again.')
      }
      complained = true
    } finally {
      over = true
      connection.drop()
    }
  }

  await new Promise<void>((attempted) => {
    const run = async () => {
      while (!closed) {
        await listenOnce(attempted)
        attempted()
        if (!closed) await rest(RETRY_MS)
      }
    }
    void run()
  })
  return {
    close() {
      closed = true
      wake()
    },
  }
}
