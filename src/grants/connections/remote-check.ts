/**
 * Checking a brand's own MCP server: it is connected, and its list of tools is read.
 * @module
 */
import type { Audit } from '../../audit/audit.ts'
import type { Connector } from '../../connector/connector.ts'
import { clean } from '../../connector/native/failure.ts'
import type { Checked } from './check.ts'
import type { Use } from './resolve.ts'
import { recordCheck } from './rows.ts'

interface Asked {
  readonly connector: Connector
  /** Resolves when it is connected, or has failed. */
  readonly connected: Promise<void> | undefined
  readonly row: Use['row']
  readonly by: string
}

/** Checks. Never throws for what a server says or does not say. */
export async function checkRemote(audit: Audit, { connector, connected, row, by }: Asked): Promise<Checked> {
  await connected
  const { state, detail } = connector.state()
  const checked = { ok: state === 'ready', said: clean(detail) }
  if (row !== undefined) await recordCheck(audit, { ...row, slug: connector.slug }, { ...checked, by })
  return checked
}
