/**
 * Judging an address when somebody states it, before anything connects to it.
 * @module
 */
import { type AddressRules, AddressRefused, allowedUrl, hostOf, pinned } from './address.ts'

const LOOK_UP_MS = 2_000

/** How names are resolved; the system's own way when left out. */
export type Resolver = Parameters<typeof pinned>[2]

/**
 * Why an address is refused, or undefined. A name is looked up, too; one that cannot be looked up now is judged when it
 * is connected to.
 */
export async function refusalAt(url: string, rules: AddressRules, resolver?: Resolver): Promise<string | undefined> {
  try {
    const read = allowedUrl(url, rules)
    const lookup = pinned(read.protocol === 'http:', rules, resolver)
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(resolve, LOOK_UP_MS)
      lookup(hostOf(read), { all: true }, (error) => {
        clearTimeout(timer)
        if (error instanceof AddressRefused) reject(error)
        else resolve()
      })
    })
    return undefined
  } catch (error) {
    if (error instanceof AddressRefused) return error.message
    throw error
  }
}
