/**
 * Cuts a byte stream into lines, with a limit on how long one may be.
 * Works on bytes, so a character split over two chunks arrives whole.
 * @module
 */

const NEWLINE = 0x0a
const RETURN = 0x0d
const NOTHING = Buffer.alloc(0)
/** Bytes kept of either end of a line that is too long. */
const KEPT = 1024

export interface LineReader {
  /** Feeds the next chunk; calls `onLine` for each line that ends in it. */
  push(chunk: Buffer): void
  /** The stream has ended: what is left without a newline is a line too. */
  end(): void
}

/**
 * `onLine` gets each line without its line end (`\n` or `\r\n`), to be used at once: the bytes are overwritten later.
 * A line of more than `limit` bytes is dropped as it comes: at its end `onTooLong` gets its two ends of at most 1 KiB
 * each, and reading goes on with the line after it.
 */
export function createLineReader(parts: {
  readonly limit: number
  readonly onLine: (line: Buffer) => void
  readonly onTooLong: (beginning: Buffer, ending: Buffer) => void
}): LineReader {
  const { limit, onLine, onTooLong } = parts
  // The beginning of a line whose end has not come yet. Grows by doubling, so dribbled bytes cost no more than a gulp.
  let held = NOTHING
  let used = 0
  // Of a line that is too long.
  let beginning: Buffer | undefined
  let ending = NOTHING

  function hold(piece: Buffer): void {
    if (used + piece.length > held.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(1024, 2 * held.length, used + piece.length))
      held.copy(larger, 0, 0, used)
      held = larger
    }
    piece.copy(held, used)
    used += piece.length
  }

  function take(): Buffer {
    const line = held.subarray(0, used)
    used = 0
    if (held.length > 65_536) held = NOTHING
    return line
  }

  function add(piece: Buffer): void {
    if (beginning === undefined && used + piece.length <= limit) {
      hold(piece)
      return
    }
    const whole = beginning === undefined ? take() : ending
    beginning ??= Buffer.concat([whole.subarray(0, KEPT), piece.subarray(0, KEPT)]).subarray(0, KEPT)
    ending = Buffer.concat([whole.subarray(-KEPT), piece.subarray(-KEPT)]).subarray(-KEPT)
  }

  function finish(): void {
    const start = beginning
    beginning = undefined
    if (start === undefined) onLine(withoutReturn(take()))
    else onTooLong(start, withoutReturn(ending))
  }

  return {
    push(chunk) {
      for (let start = 0; start < chunk.length; ) {
        const newline = chunk.indexOf(NEWLINE, start)
        const piece = chunk.subarray(start, newline < 0 ? chunk.length : newline)
        if (newline < 0) {
          add(piece)
          return
        }
        // The usual case, a line within one chunk, is not copied.
        if (used === 0 && beginning === undefined && piece.length <= limit) onLine(withoutReturn(piece))
        else {
          add(piece)
          finish()
        }
        start = newline + 1
      }
    },
    end() {
      if (used > 0 || beginning !== undefined) finish()
    },
  }
}

function withoutReturn(line: Buffer): Buffer {
  return line[line.length - 1] === RETURN ? line.subarray(0, -1) : line
}
