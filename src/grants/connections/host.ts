/**
 * What the host's environment connects, without secrets.
 * @module
 */
import type { Connectable } from '../../connector/native/connector.ts'
import { settingsOf, type Values } from '../../connector/native/values.ts'
import type { HostConnection } from './resolve.ts'
import { identityOf } from './secrets.ts'

/** By connector. One that a person has to consent to besides cannot be connected by an environment alone. */
export function hostConnections(
  host: Readonly<Record<string, Values>>,
  key: Uint8Array,
  connectables: ReadonlyMap<string, Connectable>,
): Map<string, HostConnection> {
  const found = new Map<string, HostConnection>()
  for (const [slug, { connection }] of connectables) {
    const values = Object.hasOwn(host, slug) ? host[slug] : undefined
    if (values === undefined || connection.oauth !== undefined) continue
    const settings = settingsOf(connection.fields, values)
    found.set(slug, { connector: slug, settings, identity: `host ${identityOf(key, slug, values)}` })
  }
  return found
}
