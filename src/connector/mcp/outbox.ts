/**
 * What waits for a pipe that is full: bounded, in order, and able to say whether something has left.
 * @module
 */

/** One text on its way out. `sent` once any of its bytes may have left. */
export interface Letter {
  readonly text: string
  sent: boolean
}

export interface Outbox {
  /** Writes now, or lets it wait behind a full pipe. Undefined when too much waits already. */
  send(text: string): Letter | undefined
  /** Takes back a letter that still waits. */
  withdraw(letter: Letter): void
  /** The pipe takes more again. */
  drain(): void
  /** Drops all that waits. */
  clear(): void
}

/** `write` returns false when the pipe is full, and undefined when it takes nothing at all any more. */
export function createOutbox(parts: {
  readonly write: (text: string) => boolean | undefined
  /** Most bytes that may wait. */
  readonly limit: number
}): Outbox {
  const { write, limit } = parts
  const waiting = new Map<Letter, number>()
  let bytes = 0
  let full = false

  function post(letter: Letter): void {
    const taken = write(letter.text)
    letter.sent = taken !== undefined
    full = taken === false
  }

  function withdraw(letter: Letter): void {
    bytes -= waiting.get(letter) ?? 0
    waiting.delete(letter)
  }

  return {
    withdraw,
    send(text) {
      const letter = { text, sent: false }
      if (!full) post(letter)
      else {
        const size = Buffer.byteLength(text)
        if (!(bytes + size <= limit)) return undefined
        bytes += size
        waiting.set(letter, size)
      }
      return letter
    },
    drain() {
      full = false
      for (const letter of waiting.keys()) {
        if (full) return
        withdraw(letter)
        post(letter)
      }
    },
    clear() {
      waiting.clear()
      bytes = 0
    },
  }
}
