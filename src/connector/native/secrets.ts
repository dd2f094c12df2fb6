/**
 * Takes a connection's secrets out of whatever comes back, in the forms in which a vendor may echo them.
 * @module
 */
import { REDACTED } from '../../policy/redact.ts'

/** A secret shorter than this is no credential, and would blot out words. */
const SHORTEST = 6

/** A function that replaces every form of these texts: as they are, percent-encoded, JSON-escaped, and in base64. */
export function createEraser(secrets: readonly string[]): (text: string) => string {
  const forms = [...new Set(secrets.filter((secret) => secret.length >= SHORTEST).flatMap(formsOf))]
  // The longest first, so that no half of one stays.
  forms.sort((a, b) => b.length - a.length)
  return (text) => forms.reduce((left, form) => (left.includes(form) ? left.replaceAll(form, REDACTED) : left), text)
}

function formsOf(secret: string): string[] {
  const base64 = [0, 1, 2].map((offset) => inBase64(secret, offset))
  const url = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))
  return [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), ...base64, ...url]
}

/** The part of the base64 of any text that holds the secret at this offset (of three) which depends on the secret alone. */
function inBase64(secret: string, offset: number): string {
  const whole = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)])
  const start = Math.ceil((offset * 8) / 6)
  return whole.toString('base64').slice(start, Math.floor((whole.length * 8) / 6))
}
