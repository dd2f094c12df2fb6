/**
 * Who else is trusted or let in: issuers of host-signed tokens, origins and hosts of browsers, authorization servers,
 * and the operator's overrides for native connectors.
 * @module
 */
import type { JSONWebKeySet } from 'jose'
import { type DataFile, problemAt } from '../policy/data-file.ts'
import { nearest } from '../policy/nearest.ts'
import type { ConfigFile } from './file-schema.ts'
import { hostKind, safeUrl, webUrl } from './urls.ts'

/** A host app that signs its own session tokens, and what it may name in them. */
export interface IssuerEntry {
  readonly issuer: string
  /** Exactly one of the two is there. */
  readonly jwksUrl?: string
  readonly jwks?: JSONWebKeySet
  readonly brands: readonly string[]
  readonly roles: readonly string[]
}

export interface ConnectorOverride {
  readonly baseUrl?: string
  readonly allowPrivate: boolean
}

/** Members of a JWK that are private or shared secrets. */
const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']

/** The issuers, each once, with public keys only and roles that exist. `own` is the gateway's own issuer. */
export function readIssuers(
  file: ConfigFile,
  data: DataFile,
  own: string,
  roles: readonly string[],
  problems: string[],
): IssuerEntry[] {
  const seen = new Set([own])
  return file.issuers.flatMap(({ issuer, jwksUrl, jwks, brands, roles: named }, i) => {
    const before = problems.length
    const problem = (message: string, ...more: PropertyKey[]) =>
      problems.push(problemAt(data, ['issuers', i, ...more], message))
    if (issuer === own) problem("is the gateway's own; a host app needs an issuer of its own.", 'issuer')
    else if (seen.has(issuer)) problem('is there twice; put its brands and roles into one entry.', 'issuer')
    seen.add(issuer)
    named.forEach((role, j) => {
      if (roles.includes(role)) return
      const meant = nearest(role, roles)
      problem(
        `is not a role${meant === undefined ? '' : `; did you mean "${meant}"`}; known: ${roles.join(', ')}.`,
        'roles',
        j,
      )
    })
    if ((jwksUrl === undefined) === (jwks === undefined)) problem('needs either "jwksUrl" or "jwks".')
    const url = jwksUrl === undefined ? undefined : safeUrl(jwksUrl)
    if (typeof url === 'string') problem(url, 'jwksUrl')
    jwks?.keys.forEach((key, j) => {
      if (PRIVATE.some((member) => Object.hasOwn(key, member))) {
        problem(
          'holds a private or shared key; put the public key here, and make a new pair, since this one was written down.',
          'jwks',
          'keys',
          j,
        )
      }
    })
    if (problems.length > before) return []
    const keys = url instanceof URL ? { jwksUrl: url.href } : { jwks: jwks as JSONWebKeySet }
    return [{ issuer, ...keys, brands, roles: named }]
  })
}

/** Origins exactly as browsers send them. */
export function readOrigins(file: ConfigFile, data: DataFile, problems: string[]): string[] {
  return file.allowedOrigins.map((text, i) => {
    const url = webUrl(text)
    if (typeof url === 'string' || url.origin !== text.toLowerCase()) {
      problems.push(
        problemAt(
          data,
          ['allowedOrigins', i],
          'is not an origin: write scheme, host and port alone, as in https://app.example.',
        ),
      )
    }
    return text.toLowerCase()
  })
}

/** Host names, with a port where it is not the scheme's own. */
export function readHosts(file: ConfigFile, data: DataFile, problems: string[]): string[] {
  return file.allowedHosts.map((text, i) => {
    const url = URL.parse(`http://${text}`)
    if (url === null || `${url.host}` !== text.toLowerCase().replace(/:80$/, '')) {
      problems.push(
        problemAt(data, ['allowedHosts', i], 'is not a host: write name and port alone, as in gateway.example:8787.'),
      )
    }
    return text.toLowerCase()
  })
}

export function readAuthorizationServers(file: ConfigFile, data: DataFile, problems: string[]): string[] {
  return file.authorizationServers.map((text, i) => {
    const url = safeUrl(text)
    if (typeof url === 'string') problems.push(problemAt(data, ['authorizationServers', i], url))
    return text
  })
}

export function readConnectors(
  file: ConfigFile,
  data: DataFile,
  problems: string[],
): Record<string, ConnectorOverride> {
  return Object.fromEntries(
    Object.entries(file.connectors).map(([slug, { baseUrl, allowPrivate = false }]): [string, ConnectorOverride] => {
      if (baseUrl === undefined) return [slug, { allowPrivate }]
      const url = safeUrl(baseUrl)
      const problem = (message: string) => problems.push(problemAt(data, ['connectors', slug, 'baseUrl'], message))
      if (typeof url === 'string') problem(url)
      else if (hostKind(url) === 'private' && !allowPrivate)
        problem('points at a private address; if that is meant, add "allowPrivate: true".')
      const loopback = url instanceof URL && hostKind(url) === 'loopback'
      return [slug, { baseUrl, allowPrivate: allowPrivate || loopback }]
    }),
  )
}
