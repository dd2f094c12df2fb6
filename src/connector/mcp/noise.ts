/**
 * Lines of an upstream on their way into the log: bounded in length and number, and redacted.
 * @module
 */

/** What this part needs of a logger; pino fits. */
export interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/** Lines at once, and lines per second after that. */
const BURST = 100
const PER_SECOND = 10
/** Characters shown of a line. */
const SHOWN = 1_000
/** Bytes looked at: more than are shown, so that a secret at the cut is redacted whole. */
const READ = 4_096

/**
 * Returns what logs a line. Lines beyond the rate are counted, not decoded, so that 100 MB cost next to nothing;
 * the next line that is logged says how many were left out.
 */
export function createNoise(parts: {
  readonly write: (fields: object) => void
  readonly redact: (text: string) => string
  /** Milliseconds on any steady clock. */
  readonly now?: () => number
}): (line: Buffer) => void {
  const { write, redact, now = () => performance.now() } = parts
  let tokens = BURST
  let filledAt = now()
  let leftOut = 0

  return function noise(line) {
    if (line.length === 0) return
    const at = now()
    tokens = Math.min(BURST, tokens + ((at - filledAt) / 1000) * PER_SECOND)
    filledAt = at
    if (!(tokens >= 1)) {
      leftOut++
      return
    }
    tokens--
    const text = redact(line.toString('utf8', 0, READ))
    const shown = text.length > SHOWN || line.length > READ ? `${text.slice(0, SHOWN)}…` : text
    write(leftOut > 0 ? { line: shown, leftOut } : { line: shown })
    leftOut = 0
  }
}
