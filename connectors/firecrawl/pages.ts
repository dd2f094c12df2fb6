/**
 * Pages: how they are asked for, what they cost, and what is given of them.
 * @module
 */
import { z } from 'zod'

const FORMATS = ['markdown', 'summary', 'links', 'html'] as const

/** An address of the open web. */
export const address = z.url({ protocol: /^https?$/, error: 'an http:// or https:// address' }).max(2_000)

/** Arguments of every tool that reads pages. */
export const reading = {
  onlyMainContent: z.boolean().default(true).describe('Leave out menus, headers and footers.'),
  waitForMs: z.int().min(0).max(30_000).default(0).describe('Wait for scripts before reading.'),
}

export const formats = z
  .array(z.enum(FORMATS))
  .min(1)
  .max(FORMATS.length)
  .default(['markdown'])
  .describe('What to give of it.')

/** Most pages of a PDF; 0 asks for none of its text, which bills no more than the one credit. */
export const pdfPages = (usual: number) =>
  z.int().min(0).max(100).default(usual).describe('Most pages to read of a PDF, at 1 credit each.')

/** The part of a request that says how pages are read. */
export function readingOptions(args: {
  readonly formats: readonly string[]
  readonly onlyMainContent: boolean
  readonly waitForMs: number
  readonly pdfPages: number
}): object {
  return {
    formats: args.formats.map((type) => ({ type })),
    onlyMainContent: args.onlyMainContent,
    waitFor: args.waitForMs,
    parsers: args.pdfPages === 0 ? [] : [{ type: 'pdf', maxPages: args.pdfPages }],
  }
}

/** Hosts whose pages cost more; the last one leads to the first. */
export const DEAR = ['x.com', 'twitter.com', 't.co']
const DEAR_CREDITS = 30

/** Whether the page is one of those that cost more. */
export const isDear = (url: string): boolean => isDearHost(new URL(url).hostname)

/** Whether the host, or what it is part of, is dear. */
export function isDearHost(host: string): boolean {
  const plain = host.toLowerCase().replace(/\.$/, '')
  return DEAR.some((dear) => plain === dear || plain.endsWith(`.${dear}`))
}

/** The most that one page comes to, in credits: one, and one more for each page of a PDF. */
export const pageCredits = (pdf: number, dear: boolean): number => (dear ? DEAR_CREDITS : 1 + pdf)

/** A page as Firecrawl gives it. */
export interface Page {
  readonly markdown?: string
  readonly summary?: string
  readonly html?: string
  readonly links?: readonly string[]
  readonly warning?: string
  readonly metadata?: {
    readonly title?: unknown
    readonly description?: unknown
    readonly url?: string
    readonly sourceURL?: string
    readonly statusCode?: number
    readonly error?: string
    readonly creditsUsed?: number
  }
}

/** What is given of a page; each text is cut at `most` characters, with a mark. */
export function shown({ metadata = {}, warning, ...page }: Page, most: number): Record<string, unknown> {
  return {
    url: metadata.url ?? metadata.sourceURL,
    title: metadata.title,
    description: metadata.description,
    // The page's own status: Firecrawl answers 200, and bills, for a page that said 404.
    pageStatus: metadata.statusCode,
    markdown: cut(page.markdown, most),
    summary: page.summary,
    html: cut(page.html, most),
    links: page.links?.slice(0, MOST_LINKS),
    warning: warning ?? metadata.error,
  }
}

const MOST_LINKS = 500
/** What the texts of one answer come to, in characters. */
const LONGEST = 100_000

/** The share of an answer's characters that each of several pages has. */
export const share = (pages: number): number => Math.max(2_000, Math.floor(LONGEST / Math.max(1, pages)))

const cut = (text: string | undefined, most: number): string | undefined =>
  text === undefined || text.length <= most ? text : `${text.slice(0, most)}\n[cut: ${text.length} characters in all]`
