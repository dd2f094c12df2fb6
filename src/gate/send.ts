/**
 * The last step of an allowed call: to its connector, and nowhere else.
 * @module
 */
import type { Answer, Running, UpstreamCall } from '../connector/connector.ts'
import type { Registry } from '../connector/registry.ts'

/** Sends one call. `started` is told of it, so that it can be cancelled. */
export function send(registry: Registry, call: UpstreamCall, started?: (running: Running) => void): Promise<Answer> {
  const connector = registry.find(call.tool.connector)
  if (connector === undefined) {
    const reason = `${call.tool.connector} is not connected.`
    return Promise.resolve({ kind: 'failed', code: 'upstream_unavailable', reason, ran: 'no' })
  }
  const running = connector.call(call)
  started?.(running)
  return running.answer
}
