/**
 * A crawl: a job at the vendor, which is watched until it ends and stopped when nobody waits for it any more.
 * @module
 */
import { z } from 'zod'
import { body, decimal, type Http, type Path, path, type Reply, type Run } from '../../src/connector/native/kit.ts'
import { unsure } from './connection.ts'
import { address, isDear, type Page, pageCredits, pdfPages, reading, readingOptions, share, shown } from './pages.ts'

interface Started {
  readonly id: string
}

interface Status {
  readonly status?: string
  readonly total?: number
  readonly completed?: number
  readonly creditsUsed?: number
  readonly next?: string | null
  readonly data?: readonly Page[]
}

/** A status brings the pages read so far, about 10 MB of them at most. */
const CAP_BYTES = 16 * 1024 * 1024
/** How long a crawl is watched before it is stopped, in milliseconds: what is read by then is worth more than a timeout. */
const WATCHED_MS = 240_000
const MOST_PARTS = 50

const patterns = z.array(z.string().min(1).max(200)).min(1).max(20).optional()

const input = z.strictObject({
  url: address.describe('Where to begin; without wholeSite only pages below it are followed.'),
  limit: z.int().min(1).max(100).default(10).describe('Most pages. Each is billed.'),
  maxDepth: z.int().min(0).max(10).optional().describe('Most links away from the beginning.'),
  includePaths: patterns.describe('Only paths that match one of these regular expressions: "^/blog/.*".'),
  excludePaths: patterns.describe('No path that matches one of these.'),
  sitemap: z.enum(['include', 'skip', 'only']).default('include').describe('Whether the site’s own list is used.'),
  wholeSite: z.boolean().default(false).describe('Follow links to pages beside and above the beginning too.'),
  subdomains: z.boolean().default(false).describe('Follow links to subdomains too.'),
  delayS: z.int().min(0).max(60).optional().describe('Seconds between pages, to go easy on the site.'),
  ...reading,
  pdfPages: pdfPages(0),
})
type Args = z.output<typeof input>

export const crawl = body({
  title: 'Read the pages of a site',
  description:
    'Follows the links of a site and gives each page as Markdown, up to the limit. Costs 1 credit a page, and 1 more for each PDF page. Waits until it is done, four minutes at most; then it stops and gives what it has. Long pages are cut.',
  input,
  cost: {
    estimate: ({ limit, pdfPages, url }) => String(limit * pageCredits(pdfPages, isDear(url))),
    actual: ({ creditsUsed }) => decimal(creditsUsed),
  },
  summary: ({ url, limit }) => `Read up to ${limit} pages from ${url} on with Firecrawl.`,
  deadlineMs: 300_000,
  async run(run) {
    const { json: started } = await run.http.post<Started>(path`/crawl`, {
      json: request(run.args),
      refusal: unstarted,
    })
    const job = path`/crawl/${started.id}`
    const { status, stopped } = await ended(run, job)
    const { pages, whole } =
      stopped === undefined ? await all(run.http, job, status) : { pages: status.data ?? [], whole: true }
    return {
      status: status.status,
      stopped,
      found: status.total,
      read: status.completed,
      pages: pages.slice(0, run.args.limit).map((page) => shown(page, share(pages.length))),
      // Of a crawl that was stopped and has not ended yet nobody knows what it will come to.
      creditsUsed: isOver(status) ? status.creditsUsed : undefined,
      warning: whole ? undefined : 'Not every page that was read could be fetched.',
    }
  },
})

function request(args: Args): object {
  return {
    url: args.url,
    // Always sent: the vendor's own default is 10,000 pages, and it asks for as many credits beforehand.
    limit: args.limit,
    sitemap: args.sitemap,
    crawlEntireDomain: args.wholeSite,
    allowSubdomains: args.subdomains,
    allowExternalLinks: false,
    ...(args.maxDepth !== undefined && { maxDiscoveryDepth: args.maxDepth }),
    ...(args.includePaths !== undefined && { includePaths: args.includePaths }),
    ...(args.excludePaths !== undefined && { excludePaths: args.excludePaths }),
    ...(args.delayS !== undefined && { delay: args.delayS }),
    scrapeOptions: readingOptions({ ...args, formats: ['markdown'] }),
  }
}

/** A job without a name could be neither watched nor stopped. */
function unstarted(reply: Reply<unknown>): ReturnType<typeof unsure> {
  const { id } = (reply.json ?? {}) as { id?: unknown }
  return unsure(reply) ?? (typeof id === 'string' && id !== '' ? undefined : unsure({ ...reply, json: {} }))
}

const isOver = ({ status }: Status): boolean => ['completed', 'failed', 'cancelled'].includes(String(status))

/** Watches the job until it has ended, or stops it: its time is up, its caller is gone, or its state cannot be read. */
async function ended(run: Run<Args>, job: Path): Promise<{ readonly status: Status; readonly stopped?: string }> {
  try {
    for (let watched = 0, pause = 2_000; ; watched += pause, pause = Math.min(pause + 500, 5_000)) {
      const { json: status } = await run.http.get<Status>(job, { capBytes: CAP_BYTES })
      if (isOver(status)) return { status }
      const { completed = 0, total } = status
      run.progress(`${completed} pages read.`, completed, total)
      if (watched >= WATCHED_MS) return { status: await stop(run, job), stopped: 'Its time was up.' }
      await run.wait(pause)
    }
  } catch (error) {
    // Without an answer to the stop the first error is what there is to say.
    const status = await stop(run, job).catch(() => {
      throw error
    })
    return { status, stopped: run.signal.aborted ? 'The call ended before it did.' : 'Its progress could not be read.' }
  }
}

/** Stops the job, then reads what it came to. */
async function stop(run: Run<Args>, job: Path): Promise<Status> {
  const http = run.cleanup
  // 409: it has ended by itself meanwhile.
  await http.delete(job, { accept: [409] })
  return (await http.get<Status>(job, { capBytes: CAP_BYTES })).json
}

/** All pages of a job that has ended; what cannot be fetched is missing, and that is said. */
async function all(http: Http, job: Path, status: Status): Promise<{ pages: readonly Page[]; whole: boolean }> {
  const pages = [...(status.data ?? [])]
  let { next } = status
  for (let part = 0; next && part < MOST_PARTS; part++) {
    const query = rest(next)
    if (query === undefined) return { pages, whole: false }
    try {
      const { json } = await http.get<Status>(job, { query, capBytes: CAP_BYTES })
      pages.push(...(json.data ?? []))
      next = json.next
    } catch {
      return { pages, whole: false }
    }
  }
  return { pages, whole: !next }
}

/** Where the rest begins. Of the vendor's address nothing is followed but these numbers. */
function rest(next: string): Record<string, string> | undefined {
  const search = URL.parse(next)?.searchParams
  const numbers = ['skip', 'limit'].flatMap((name) => {
    const value = search?.get(name) ?? ''
    return /^\d{1,9}$/.test(value) ? [[name, value] as const] : []
  })
  return numbers.some(([name]) => name === 'skip') ? Object.fromEntries(numbers) : undefined
}
