/**
 * How a shop is reached: its own myshopify.com host, a version of the Admin API, and a token that is stated or asked for.
 * @module
 */
import { z } from 'zod'
import {
  type ConnectionKind,
  type Http,
  path,
  type Problem,
  refusedBy,
  type Values,
} from '../../src/connector/native/kit.ts'
import { type Envelope, refusalOf, versionWarning } from './answer.ts'

/** The stable version that this connector was written for. */
const VERSION = '2026-10'

/** The version that is asked for. */
export const versionOf = ({ version }: Values): string => version ?? VERSION

/** Where every request but the one for a token goes. */
export const endpoint = (settings: Values) => path`/admin/api/${versionOf(settings)}/graphql.json`

const NEEDED = ['read_products', 'read_orders']

/** What the check asks; it needs no scope. */
export const CHECK = '{ shop { name myshopifyDomain } currentAppInstallation { accessScopes { handle } } }'

interface Checked {
  shop?: { name?: string; myshopifyDomain?: string } | null
  currentAppInstallation?: { accessScopes?: { handle?: string }[] } | null
}

export const connection: ConnectionKind = {
  fields: {
    shop: {
      title: 'the shop’s own host, as in acme.myshopify.com (Settings, Domains)',
      schema: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}\.myshopify\.com$/, 'Not a custom domain, and no https://.'),
      env: 'SHOPIFY_SHOP',
      secret: false,
    },
    clientId: {
      title: 'the client ID of an app of your own organisation (Dev Dashboard, the app, Settings)',
      schema: z.string().regex(/^[A-Za-z0-9]{16,64}$/, 'Letters and digits.'),
      env: 'SHOPIFY_CLIENT_ID',
      secret: false,
      unless: 'accessToken',
    },
    clientSecret: {
      title: 'the client secret beside it',
      schema: z.string().regex(/^[A-Za-z0-9_]{16,128}$/, 'Letters, digits and "_".'),
      env: 'SHOPIFY_CLIENT_SECRET',
      unless: 'accessToken',
    },
    accessToken: {
      title: 'instead of both: the Admin API access token of an older custom app',
      schema: z.string().regex(/^shp(?!ss_)[a-z]{2}_[A-Za-z0-9]{16,128}$/, 'It begins with "shpat_".'),
      env: 'SHOPIFY_ACCESS_TOKEN',
      optional: true,
    },
    version: {
      title: `the version of the Admin API; ${VERSION} unless said`,
      schema: z.string().regex(/^(?:20[0-9]{2}-(?:01|04|07|10)|unstable)$/, 'As in "2026-10".'),
      env: 'SHOPIFY_API_VERSION',
      secret: false,
      optional: true,
    },
  },
  baseUrl: ({ shop }) => `https://${shop}`,
  async authorize({ accessToken, clientId = '', clientSecret = '' }, mint) {
    const token = accessToken ?? (await mint((http) => tokenFor(http, clientId, clientSecret)))
    return { 'x-shopify-access-token': token }
  },
  problem,
  async check(http, settings) {
    const reply = await http.post<Envelope>(endpoint(settings), {
      json: { query: CHECK },
      safe: true,
      refusal: refusalOf,
    })
    const { shop, currentAppInstallation } = (reply.json.data ?? {}) as Checked
    const scopes = (currentAppInstallation?.accessScopes ?? []).flatMap(({ handle }) => handle ?? [])
    const missing = NEEDED.filter((one) => !scopes.includes(one) && !scopes.includes(one.replace('read_', 'write_')))
    return [
      `Connected to ${shop?.name ?? 'a shop'} (${shop?.myshopifyDomain ?? settings.shop}), Admin API ${versionOf(settings)}.`,
      scopes.length === 0 ? 'The app has no scopes.' : `Scopes: ${scopes.join(', ')}.`,
      ...(missing.length === 0 ? [] : [`The reads also need ${missing.join(' and ')}.`]),
      ...versionWarning(reply, versionOf(settings)),
    ].join(' ')
  },
}

/** Client credentials (RFC 6749, 4.4), for apps of the shop's own organisation; a token lives about a day. */
async function tokenFor(http: Http, id: string, secret: string): Promise<{ token: string; expiresInS: number }> {
  const form = { grant_type: 'client_credentials', client_id: id, client_secret: secret }
  const { bytes } = await http.post(path`/admin/oauth/access_token`, { form, safe: true })
  const { access_token: token, expires_in: expiresInS } = tokenIn(bytes)
  if (typeof token !== 'string' || token === '')
    throw refusedBy('Shopify', { code: 'upstream_unavailable', message: 'It gave no access token for the client ID.' })
  return { token, expiresInS: typeof expiresInS === 'number' ? expiresInS : 0 }
}

/** Read from the bytes: in the text a token that is known already, and given once more, would be blotted out. */
function tokenIn(bytes: Uint8Array): { access_token?: unknown; expires_in?: unknown } {
  try {
    return (JSON.parse(Buffer.from(bytes).toString('utf8')) as object | null) ?? {}
  } catch {
    return {}
  }
}

/** What a status other than 200 means: `errors` is a text or an object of texts there; the token endpoint says `error`. */
function problem(status: number, body: unknown): Problem {
  const { errors, error } = (body ?? {}) as { errors?: unknown; error?: unknown }
  if (typeof error === 'string' && errors === undefined && (status === 400 || status === 401))
    return {
      code: 'upstream_unavailable',
      vendorCode: error,
      message: `It does not take the client ID and secret (${error}); a person has to state them anew`,
    }
  const inner = errors !== null && typeof errors === 'object' ? Object.values(errors).flat()[0] : errors
  const message = typeof inner === 'string' ? inner : undefined
  if (status === 404)
    return { code: 'upstream_unavailable', message: message ?? 'There is no such shop or API version' }
  return { message, ...((status === 423 || status === 430) && { code: 'upstream_unavailable' }) }
}
