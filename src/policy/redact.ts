/**
 * Keeps secrets out of everything people and machines read later: logs, errors, cards, records.
 * By the name a value stands under, and by the shape of the value itself. When in doubt it hides too much.
 * @module
 */
import { elements, members } from '../json.ts'

/** What stands where a secret stood. */
export const REDACTED = '[redacted]'
/** What stands for JSON that cannot be read, and so cannot be judged. */
const UNREADABLE = JSON.stringify('[unreadable]')

const SECRET_PART =
  /passw|passphrase|passcode|pwd|secret|token|(?:api|access|private|signing|encryption|master|session|account)key|authori[sz]ation|cookie|credential|bearer|cvv|cvc|connectionstring/
const SECRET_WHOLE = new Set([
  'auth',
  'xauth',
  'pass',
  'pin',
  'otp',
  'totp',
  'mfa',
  'jwt',
  'sig',
  'signature',
  'dsn',
  'sas',
])
const COUNT = /^-?[0-9]{1,7}$/

/**
 * Whether a value under this name is taken for a secret, whatever it holds. Case and separators do not matter:
 * `apiKey`, `API_KEY`, `x-api-key` are one name.
 */
export function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replace(/[^a-z0-9]/g, '')
  return SECRET_PART.test(plain) || SECRET_WHOLE.has(plain)
}

/** `max_tokens: 4096` counts something and is no secret. */
const isCount = (name: string, value: string): boolean => /tokens?$/i.test(name) && COUNT.test(value)

// Each pattern is linear in the text: anchored by a literal, or bounded. The order matters: wide shapes first.
const PRIVATE_KEY = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g
const HEADER =
  /\b((?:proxy-)?authorization|(?:set-)?cookie)(\\?["']?[ \t]{0,4}[:=][ \t]{0,4})(\\?"(?:[^"\\\r\n]|\\[^\r\n"])*\\?"|'[^'\r\n]*'|[^\r\n"']+)/gi
const SCHEME = /\b(bearer|basic|digest|negotiate|apikey)([ \t]{1,4}|%20|\+)[A-Za-z0-9._~+/=:%-]{6,}/gi
const URL_USER = /:(?:\\?\/){2}[^\s/?#"'<>\\]*@/g
const URL_USER_ENCODED = /%3a%2f%2f[^\s/?#"'<>\\]{1,512}?%40/gi
const QUERY = /([?&;#]([A-Za-z0-9_.~%[\]-]{1,64})=)([^&#\s"'<>\\]+)/g
const PAIR = /(?<![A-Za-z0-9_.-])(-{0,4}[A-Za-z][A-Za-z0-9_.-]{0,63})(\\?["']?[ \t]{0,4}(?:=>|[:=])[ \t]{0,4})/g
const PAIR_VALUE =
  /(?:\\"(?:[^"\\]|\\[^"])*(?:\\"|$)|"(?:[^"\\]|\\.)*(?:"|\\?$)|'[^'\r\n]*(?:'|$)|(?:,(?!\s)|[^\s,;&"'}\])\\])+)/y
const SHAPES: readonly RegExp[] = [
  /\beyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){0,4}/g, // JWT, JWE, and JSON in base64url
  /\b(?:sk|pk|rk|ak|whsec|pplx|gsk|hf|npm|fc|tvly|shpat|shpss|lin_api|dop_v1|xapp|dckr_pat|pypi|rubygems|sntrys|ntn|secret)[-_][A-Za-z0-9_-]{16,}/g,
  /\b(?:gh[pousr]_|github_pat_|glpat-|xox[a-z]-|ya29\.|1\/\/0|SG\.|EAA)[A-Za-z0-9_.-]{16,}/g,
  /\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\bAGE-SECRET-KEY-1[A-Z0-9]{20,}/g,
]

/** Shorter than any key's own shape, and with no place for a name, a scheme or a URL. */
const isPlain = (text: string): boolean => text.length < 11 && !/[:=%\s+]/.test(text)

/**
 * Text for a log, an error or a card, without the secrets it may carry. Never throws; linear in the length.
 * A secret that is cut off at the end of the text is still known, so a beginning may be judged by itself.
 */
export function redactText(text: string): string {
  if (isPlain(text)) return text
  let out = text
  if (out.includes('-----BEGIN ')) out = out.replace(PRIVATE_KEY, REDACTED)
  if (/[:=]/.test(out)) {
    out = out.replace(HEADER, (all, name: string, between: string, value: string) => hide(all, name, between, value))
    out = out.replace(URL_USER, `://${REDACTED}@`)
    out = out.replace(QUERY, (all, head: string, name: string, value: string) =>
      isSecretName(decoded(name)) ? hide(all, head, '', value, name) : all,
    )
    out = hidePairs(out)
  }
  if (out.includes('%')) out = out.replace(URL_USER_ENCODED, `%3A%2F%2F${REDACTED}%40`)
  out = out.replace(SCHEME, (_all, scheme: string) => `${scheme} ${REDACTED}`)
  for (const shape of SHAPES) out = out.replace(shape, REDACTED)
  return out
}

/** Hides values of secret names. Of any other pair only the name is passed over: its value may hold pairs (`Error: token=…`). */
function hidePairs(text: string): string {
  let out = ''
  let done = 0
  for (const match of text.matchAll(PAIR)) {
    const [head, name = '', between = ''] = match
    const at = match.index
    // A name within a value that is hidden already counts no more.
    if (at < done || !isSecretName(name)) continue
    PAIR_VALUE.lastIndex = at + head.length
    const value = PAIR_VALUE.exec(text)?.[0]
    if (value === undefined) continue
    out += text.slice(done, at) + hide(head + value, name, between, value)
    done = at + head.length + value.length
  }
  return out + text.slice(done)
}

/** The pair with the mark in the value's own quotes, so that what was JSON stays JSON; as it is where it is hidden already. */
function hide(all: string, head: string, between: string, value: string, name = head): string {
  const quote = /^\\?["']/.exec(value)?.[0] ?? ''
  if (isCount(name, value) || value.startsWith('[redacted', quote.length)) return all
  return `${head}${between}${quote}${REDACTED}${quote}`
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/**
 * JSON text with its secrets replaced; everything else stays byte for byte (numbers keep their digits, keys their order).
 * `look` is what every string and key goes through: `redactText`, or something that holds it. Text that is not JSON,
 * or names a key twice, becomes `"[unreadable]"`.
 */
export function redactJson(text: string, look: (text: string) => string = redactText): string {
  try {
    JSON.parse(text)
    return value(text.trim(), look)
  } catch {
    return UNREADABLE
  }
}

function value(text: string, look: (text: string) => string): string {
  if (text.startsWith('"')) return string(text, look)
  if (text.startsWith('[')) {
    const parts = elements(text) ?? []
    return `[${parts.map(({ start, end }) => value(text.slice(start, end), look)).join(',')}]`
  }
  if (!text.startsWith('{')) return text
  const found = members(text) ?? new Map()
  const named = isNamedSecret(text, found)
  const parts = new Map<string, string>()
  const twins = new Map<string, number>()
  for (const [key, { start, end }] of found) {
    const raw = text.slice(start, end)
    const hide = (isSecretName(key) || (named && key === 'value')) && !isHarmless(key, raw)
    const plain = string(JSON.stringify(key), look)
    let name = plain
    // Keys that look alike now stay two keys: a reader would keep one of them only.
    for (let twin = twins.get(plain) ?? 2; parts.has(name); twin++) {
      name = JSON.stringify(`${look(key)} (${twin})`)
      twins.set(plain, twin + 1)
    }
    parts.set(name, hide ? JSON.stringify(REDACTED) : value(raw, look))
  }
  return `{${[...parts].map(([name, shown]) => `${name}:${shown}`).join(',')}}`
}

/** A pair such as `{"name": "Authorization", "value": "…"}`, as lists of headers and variables are written. */
function isNamedSecret(text: string, found: Map<string, { start: number; end: number }>): boolean {
  if (!found.has('value')) return false
  return ['name', 'key', 'header'].some((member) => {
    const span = found.get(member)
    const name: unknown = span && JSON.parse(text.slice(span.start, span.end))
    return typeof name === 'string' && isSecretName(name)
  })
}

const isHarmless = (key: string, raw: string): boolean =>
  raw === 'null' || raw === 'true' || raw === 'false' || raw === '""' || isCount(key, raw)

function string(raw: string, look: (text: string) => string): string {
  const text = JSON.parse(raw) as string
  const shown = look(text)
  return shown === text ? raw : JSON.stringify(shown)
}

// Controls, bidi and other format characters, lone surrogates, private and unassigned, and what renders as nothing;
// but for newline and tab. `\u{` itself is marked, so that nobody can write an escape that was none.
const HIDDEN =
  /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|\\(?=u\{)/gu

/**
 * Makes visible what a reader would not see or would see elsewhere (control and ANSI characters, right-to-left overrides,
 * zero-width characters, tag blocks) as `\u{…}`. Newline and tab stay. The result holds no lone surrogate and no NUL.
 */
export function visible(text: string): string {
  return text.replace(HIDDEN, (hiddenOne) => `\\u{${hiddenOne.codePointAt(0)?.toString(16)}}`)
}
