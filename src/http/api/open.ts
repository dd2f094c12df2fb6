/**
 * What needs no key: probes, metrics, the key set, and RFC 9728 metadata where an authorization server is configured.
 * @module
 */
import type { OpenAPIHono } from '@hono/zod-openapi'
import { sql } from '../../db/drizzle.ts'
import { notFound, problem } from '../problem.ts'
import type { ApiParts } from './parts.ts'

/** Adds the routes. */
export function addOpen(app: OpenAPIHono, parts: ApiParts): void {
  app.get('/healthz', (c) => c.json({ status: 'ok' }))

  app.get('/readyz', async (c) => {
    const checks = await readiness(parts)
    const away = Object.entries(checks).filter(([, state]) => state !== 'ok')
    if (away.length === 0) return c.json({ status: 'ready', checks })
    const detail = away.map(([name, state]) => `${name}: ${state}`).join(' ')
    return problem(503, 'not_ready', detail, { checks }, { 'retry-after': '2' })
  })

  app.get('/metrics', async (c) =>
    c.body(await parts.metrics.metrics(), 200, { 'content-type': parts.metrics.contentType }),
  )

  app.get('/.well-known/jwks.json', (c) =>
    c.json(parts.keyring.jwks(), 200, { 'cache-control': 'public, max-age=15', 'access-control-allow-origin': '*' }),
  )

  for (const path of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp']) {
    app.get(path, (c) => {
      if (parts.authorizationServers.length === 0) {
        return notFound('No authorization server is configured; send a session token as Authorization: Bearer.')
      }
      const metadata = {
        resource: parts.resource,
        authorization_servers: parts.authorizationServers,
        bearer_methods_supported: ['header'],
        resource_name: 'Tollgate',
      }
      return c.json(metadata, 200, { 'access-control-allow-origin': '*' })
    })
  }
}

async function readiness({
  db,
  audit,
  revocations,
}: ApiParts): Promise<Record<'database' | 'audit' | 'revocations', string>> {
  const asked = async (work: () => Promise<unknown>, otherwise: string) => {
    try {
      await work()
      return 'ok'
    } catch {
      return otherwise
    }
  }
  const [database, fresh] = await Promise.all([
    asked(() => db.orm.execute(sql`select 1`), 'The database does not answer.'),
    asked(() => revocations.ensureFresh(), 'It is not known which sessions are revoked.'),
  ])
  return { database, audit: audit.healthy() ? 'ok' : 'The audit cannot be written.', revocations: fresh }
}
