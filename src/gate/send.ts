/**
 * The last step of an allowed call: to its connector, and nowhere else.
 * @module
 */
import type { Answer, Running, UpstreamCall } from '../connector/connector.ts'
import type { Registry } from '../connector/registry.ts'

export interface Sender {
  /** Sends one call. `started` is told of it, so that its caller can cancel it. */
  send(call: UpstreamCall, started?: (running: Running) => void): Promise<Answer>
  /** Ends every call that is still out: what may have run is then known to be unknown. */
  close(): void
}

/** Builds the way out. */
export function createSender(registry: Registry): Sender {
  const out = new Set<Running>()
  return {
    send(call, started) {
      const connector = registry.find(call.tool.connector, call.session.brand)
      if (connector === undefined) {
        const reason = `${call.tool.connector} is not connected.`
        return Promise.resolve({ kind: 'failed', code: 'upstream_unavailable', reason, ran: 'no' })
      }
      const running = connector.call(call)
      out.add(running)
      started?.(running)
      return running.answer.finally(() => out.delete(running))
    },
    close() {
      for (const running of out) running.cancel('The gateway is stopping.')
    },
  }
}
