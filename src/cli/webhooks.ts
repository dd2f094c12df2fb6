/**
 * `tollgate webhooks`: who is told of events over HTTP, and how that goes.
 * @module
 */
import type { Command } from 'commander'
import { count, names, type RestOptions, remote } from './options.ts'
import { CliError, type Io, plain, print, printJson, table, when } from './output.ts'
import { createRest } from './rest.ts'

interface Webhook {
  readonly id: string
  readonly url: string
  readonly brand: string
  readonly events: readonly string[]
  readonly format: string
  readonly failures: number
  readonly pausedAt?: string
  readonly secret?: string
}

interface Delivery {
  readonly id: string
  readonly event: string
  readonly status: string
  readonly attempts: number
  readonly createdAt: string
  readonly nextAttemptAt?: string
  readonly answer?: number
  readonly problem?: string
}

interface Page<T> {
  readonly items: readonly T[]
  readonly nextCursor: string | null
}

interface ListOptions extends RestOptions {
  readonly brand?: string
  readonly status?: string
  readonly limit?: number
  readonly cursor?: string
}

/** Adds the commands. */
export function addWebhooks(program: Command, io: Io): void {
  const webhooks = program.command('webhooks').description('tell others of events over HTTP')
  const at = (id: string, more = '') => `/v1/webhooks/${encodeURIComponent(id)}${more}`

  paged(remote(webhooks, 'list', 'list webhooks'))
    .option('--brand <brand>', 'only this brand')
    .action(async ({ url, json, brand, limit, cursor }: ListOptions) => {
      const page = await createRest(io.env, url).get<Page<Webhook>>('/v1/webhooks', {
        brand,
        ...place({ limit, cursor }),
      })
      if (json) return printJson(io, page)
      if (page.items.length === 0) return print(io, 'No webhooks. Add one with: tollgate webhooks add <url>')
      const rows = page.items.map((hook) => [hook.id, state(hook), hook.brand, hook.format, hook.url])
      print(io, table(['WEBHOOK', 'STATE', 'BRAND', 'FORMAT', 'URL'], rows))
      more(io, page)
    })

  remote(webhooks, 'add <address>', 'register a webhook and print its signing secret, once')
    .option('--brand <brand>', 'whose events: a brand, or "*" for every brand (default: the owner\'s)')
    .option('--events <names>', 'which events, as in card.created,card.unknown (default: all of cards)', names)
    .option('--format <format>', 'json, or slack for an incoming webhook of Slack', 'json')
    .action(
      async (
        address: string,
        { url, json, brand, events, format }: RestOptions & Partial<Pick<Webhook, 'brand' | 'events' | 'format'>>,
      ) => {
        const asked = { url: address, brand, events, format }
        const hook = await createRest(io.env, url).post<Webhook>('/v1/webhooks', asked)
        if (json) return printJson(io, hook)
        print(io, `Added ${hook.id}: ${plain(hook.url)}`)
        print(io, `Signing secret, shown only now: ${hook.secret}`)
      },
    )

  remote(webhooks, 'test <id>', 'send a test event now').action(async (id: string, { url, json }: RestOptions) => {
    const sent = await createRest(io.env, url).post<Delivery>(at(id, '/test'), undefined)
    if (json) printJson(io, sent)
    if (sent.status !== 'delivered') throw new CliError(`The test was not delivered. ${plain(sent.problem ?? '')}`)
    if (!json) print(io, `Delivered: it answered ${sent.answer}.`)
  })

  remote(webhooks, 'delete <id>', 'remove a webhook').action(async (id: string, { url, json }: RestOptions) => {
    const hook = await createRest(io.env, url).delete<Webhook>(at(id))
    if (json) printJson(io, hook)
    else print(io, `Removed: ${plain(hook.url)}`)
  })

  for (const verb of ['pause', 'resume'] as const) {
    const describes = verb === 'pause' ? 'stop telling a webhook' : 'tell a paused webhook again'
    remote(webhooks, `${verb} <id>`, describes).action(async (id: string, { url, json }: RestOptions) => {
      const hook = await createRest(io.env, url).post<Webhook>(at(id, `/${verb}`), undefined)
      if (json) printJson(io, hook)
      else print(io, `${verb === 'pause' ? 'Paused' : 'Resumed'}: ${plain(hook.url)}`)
    })
  }

  remote(webhooks, 'rotate-secret <id>', 'make a new signing secret and print it, once')
    .option('--keep-old <seconds>', 'how long the old one signs too (default: 86400)', count)
    .action(async (id: string, { url, json, keepOld }: RestOptions & { keepOld?: number }) => {
      const hook = await createRest(io.env, url).post<Webhook>(at(id, '/rotate-secret'), { keepOldSeconds: keepOld })
      if (json) printJson(io, hook)
      else print(io, `Signing secret, shown only now: ${hook.secret}`)
    })

  paged(remote(webhooks, 'deliveries <id>', 'list what a webhook was told, and what it is to be told'))
    .option('--status <status>', 'waiting, delivered or given_up')
    .action(async (id: string, { url, json, status, limit, cursor }: ListOptions) => {
      const page = await createRest(io.env, url).get<Page<Delivery>>(at(id, '/deliveries'), {
        status,
        ...place({ limit, cursor }),
      })
      if (json) return printJson(io, page)
      if (page.items.length === 0) return print(io, 'No deliveries.')
      const rows = page.items.map((one) => [
        one.id,
        one.status,
        one.event,
        when(one.createdAt),
        String(one.attempts),
        when(one.nextAttemptAt),
        one.problem ?? '',
      ])
      print(io, table(['DELIVERY', 'STATUS', 'EVENT', 'SINCE', 'TRIES', 'NEXT', 'PROBLEM'], rows))
      more(io, page)
    })

  remote(webhooks, 'redeliver <id> <delivery>', 'send a delivery once more').action(
    async (id: string, delivery: string, { url, json }: RestOptions) => {
      const path = at(id, `/deliveries/${encodeURIComponent(delivery)}/redeliver`)
      const sent = await createRest(io.env, url).post<Delivery>(path, undefined)
      if (json) printJson(io, sent)
      else print(io, `Waiting to be sent: ${sent.event} ${sent.id}`)
    },
  )
}

const paged = (command: Command): Command =>
  command
    .option('--limit <n>', 'most to list (default: 50)', count)
    .option('--cursor <cursor>', 'go on from a list before')

const place = ({ limit, cursor }: { limit: number | undefined; cursor: string | undefined }) => ({
  cursor,
  limit: limit === undefined ? undefined : String(limit),
})

function state({ pausedAt, failures }: Webhook): string {
  if (pausedAt !== undefined) return 'paused'
  return failures > 0 ? `failing (${failures})` : 'active'
}

function more(io: Io, { nextCursor }: Page<unknown>): void {
  if (nextCursor !== null) print(io, '', `More: --cursor ${nextCursor}`)
}
