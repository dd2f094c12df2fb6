/**
 * Which addresses an upstream may have. A name is resolved once per connection, every address it has is judged, and
 * the connection goes to those addresses and no others, so that a name cannot change its mind in between.
 * @module
 */
import { lookup as resolve } from 'node:dns'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'

export interface AddressRules {
  /** Loopback, private, unique-local and shared (RFC 6598) addresses are meant. Link-local and metadata never are. */
  readonly allowPrivate: boolean
  /** Host names the operator listed one by one: any address, any scheme of the two. */
  readonly hosts: readonly string[]
  /** How a refusal calls what has the address, and what allows it ("… if that is meant"). */
  readonly words?: { readonly what: string; readonly allow: string }
}

/** Thrown (or told to a lookup) for an address that is not for this gateway to reach. */
export class AddressRefused extends Error {
  override name = 'AddressRefused'
  readonly code = 'ADDRESS_REFUSED'
}

const PRIVATE = new Set(['loopback', 'private', 'uniqueLocal', 'carrierGradeNat'])

/** Addresses and names at which clouds hand out credentials (AWS, Azure, GCP, Alibaba, Oracle). */
const METADATA = new Set([
  '169.254.169.254',
  'fd00:ec2::254',
  '100.100.100.200',
  '192.0.0.192',
  '168.63.129.16',
  'fd20:ce::254',
])
const METADATA_NAME =
  /^(?:metadata|instance-data|metadata\.google\.internal|metadata\.goog|instance-data\.ec2\.internal)$/

type Standing = 'public' | 'private' | 'forbidden'

/** How an address stands; anything that is not plainly public or private is forbidden. */
export function standing(address: string): Standing {
  if (!ipaddr.isValid(address) || METADATA.has(ipaddr.parse(address).toString())) return 'forbidden'
  const parsed = ipaddr.parse(address)
  const range = parsed.range()
  if (PRIVATE.has(range)) return 'private'
  if (range !== 'unicast') return 'forbidden'
  // IPv6 global unicast is 2000::/3 (RFC 4291); ipaddr.js calls the rest of the unassigned space unicast too.
  if (parsed.kind() === 'ipv6' && ((parsed as ipaddr.IPv6).parts[0] ?? 0) >> 13 !== 1) return 'forbidden'
  return 'public'
}

/**
 * Reads an upstream's URL by the rules. Throws AddressRefused with a sentence that says how to mend it.
 * Names are judged again at each connection by `pinned`.
 */
export function allowedUrl(written: string, rules: AddressRules): URL {
  const url = readUrl(written)
  const host = hostOf(url)
  if (isListed(host, rules)) return url
  if (METADATA_NAME.test(host))
    throw new AddressRefused(`"${host}" is a metadata service, which no ${wordsOf(rules).what} may be.`)
  if (ipaddr.isValid(host)) judge(host, host, url.protocol === 'http:', rules)
  else if (url.protocol === 'http:' && !rules.allowPrivate) throw new AddressRefused(plainWords(rules))
  return url
}

const wordsOf = (rules: AddressRules) => rules.words ?? { what: 'upstream', allow: 'set allowPrivate on the entry' }

function plainWords(rules: AddressRules): string {
  const { what, allow } = wordsOf(rules)
  return `${what === 'upstream' ? 'An' : 'A'} ${what} outside this machine and its private network needs https; ${allow} for one inside.`
}

function readUrl(written: string): URL {
  // URL drops tabs and line breaks and turns backslashes round; what a person reads must be what is reached.
  if (/[\s\\\p{Cc}]/u.test(written))
    throw new AddressRefused('The URL has blanks, backslashes or control characters in it.')
  if (!URL.canParse(written)) throw new AddressRefused('The URL cannot be read.')
  const url = new URL(written)
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new AddressRefused(`The scheme "${url.protocol}" is neither https: nor http:.`)
  if (!/^https?:\/\/[^/]/i.test(written)) throw new AddressRefused('The URL must begin with https:// and a host.')
  if (url.username !== '' || url.password !== '' || /^\w+:\/\/[^/?#]*@/.test(written)) {
    throw new AddressRefused('The URL has a user part; put credentials into headers.')
  }
  if (url.hostname === '' || url.port === '0') throw new AddressRefused('The URL names no host and port to reach.')
  url.hash = ''
  return url
}

/** The host of a URL without brackets and final dot. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
}

const isListed = (host: string, rules: AddressRules): boolean => rules.hosts.includes(host)

function judge(host: string, address: string, plain: boolean, rules: AddressRules): void {
  const found = standing(address)
  if (found === 'public' && !plain) return
  if (found === 'public') throw new AddressRefused(plainWords(rules))
  if (found === 'private' && rules.allowPrivate) return
  throw new AddressRefused(
    found === 'private'
      ? `"${host}" is an address inside (${address}); ${wordsOf(rules).allow} if that is meant.`
      : `"${host}" is an address no ${wordsOf(rules).what} may have (${address}).`,
  )
}

/** A lookup for `net.connect` that refuses a name with any address the rules forbid. `plain`: the scheme is http. */
export function pinned(plain: boolean, rules: AddressRules, resolver: typeof resolve = resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolver(
      hostname,
      { all: true, family: options.family ?? 0, ...(options.hints !== undefined && { hints: options.hints }) },
      (error, found) => {
        if (error !== null) return callback(error, '')
        try {
          if (found.length === 0) throw new AddressRefused(`"${hostname}" has no address.`)
          const host = hostname.replace(/\.$/, '')
          if (!isListed(host, rules)) for (const { address } of found) judge(host, address, plain, rules)
        } catch (refused) {
          return callback(refused as NodeJS.ErrnoException, '')
        }
        if (options.all === true) return callback(null, found)
        const [first] = found
        return callback(null, first?.address ?? '', first?.family)
      },
    )
  }
}
