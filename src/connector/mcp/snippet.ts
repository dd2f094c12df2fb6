/**
 * What of an upstream's words may appear in an error or log: little, on one line, and nothing secret.
 * @module
 */
import { redactText } from '../../policy/redact.ts'

/** Most characters of an upstream's text in a reason. */
const SNIPPET = 300
/** Shorter configured values are ordinary words, and blanking them would only garble the text. */
const SHORTEST_SECRET = 6

export type Snip = (text: string) => string

/** Makes the function that cuts and redacts; `secrets` are the values configured for this upstream, `passing` tokens of late. */
export function createSnip(secrets: readonly string[], passing: () => readonly string[] = () => []): Snip {
  const fixed = createRedact(secrets)
  const redact: Snip = (text) =>
    passing()
      .filter((token) => token.length >= SHORTEST_SECRET)
      .reduce((left, token) => left.replaceAll(token, '[redacted]'), fixed(text))
  return (text) => {
    // Secrets are looked for well past the cut, so that none is cut in half and then not recognised.
    const shown = redact(text.slice(0, 4096))
      .replace(/[\s\p{Cc}]+/gu, ' ')
      .trim()
    return shown.length > SNIPPET ? `${shown.slice(0, SNIPPET)}…` : shown
  }
}

/** Takes out what looks secret, and the configured values however they look. */
export function createRedact(secrets: readonly string[]): Snip {
  const hidden = secrets
    .flatMap((secret) => [secret, secret.replace(/^\S+\s+/, '')])
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .sort((a, b) => b.length - a.length)
  return (text) => {
    let shown = text
    for (const secret of hidden) shown = shown.replaceAll(secret, '[redacted]')
    return redactText(shown)
  }
}
