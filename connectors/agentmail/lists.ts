/**
 * Pages of threads, messages and drafts: what a list may be asked for, and how AgentMail is asked.
 * @module
 */
import { z } from 'zod'

const moment = z.iso.datetime({ offset: true, error: 'a time, as in 2026-01-31T00:00:00Z' })
const filter = z.array(z.string().min(1).max(200)).max(10).default([])

export const paging = {
  limit: z.int().min(1).max(100).default(20),
  page: z.string().min(1).max(4_096).optional().describe('Give nextPage of the answer before to go on.'),
}

export const period = {
  before: moment.optional().describe('Only what is older.'),
  after: moment.optional().describe('Only what is younger.'),
}

/** Arguments of every list. */
export const listing = {
  ...paging,
  ...period,
  labels: filter.describe('Only what has all of these labels.'),
  ascending: z.boolean().default(false).describe('Oldest first.'),
}

/** Mail that is left out of lists unless it is asked for. */
export const hidden = {
  includeSpam: z.boolean().default(false),
  includeBlocked: z.boolean().default(false),
  includeUnauthenticated: z.boolean().default(false),
  includeTrash: z.boolean().default(false),
}

/** Arguments of a search. */
export const searching = {
  q: z.string().min(1).max(500).describe('Words to look for in sender, recipients, subject and text.'),
  ...paging,
  ...period,
}

export const contains = (what: string) => filter.describe(`Only where ${what} contains all of these.`)

type Period = { readonly before?: string | undefined; readonly after?: string | undefined }
type Paging = { readonly limit: number; readonly page?: string | undefined }

/** A list is one JSON text under one name, as AgentMail's own SDK sends it. */
export const listText = (list: readonly string[]): string | undefined =>
  list.length === 0 ? undefined : JSON.stringify(list)

export const pageQuery = ({ limit, page }: Paging) => ({ limit, page_token: page })

const momentText = (text: string | undefined): string | undefined => text && new Date(text).toISOString()
export const periodQuery = ({ before, after }: Period) => ({ before: momentText(before), after: momentText(after) })

/** The query of a list, but for what only one kind of list has. */
export const listQuery = (
  args: Paging & Period & { readonly labels: readonly string[]; readonly ascending: boolean },
) => ({
  ...pageQuery(args),
  ...periodQuery(args),
  labels: listText(args.labels),
  ascending: args.ascending || undefined,
})

export const hiddenQuery = (args: { readonly [K in keyof typeof hidden]: boolean }) => ({
  include_spam: args.includeSpam || undefined,
  include_blocked: args.includeBlocked || undefined,
  include_unauthenticated: args.includeUnauthenticated || undefined,
  include_trash: args.includeTrash || undefined,
})

export interface Page {
  readonly next_page_token?: string | null
}

export const nextPage = (page: Page | undefined): string | undefined => page?.next_page_token ?? undefined
