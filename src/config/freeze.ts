/**
 * Makes a value and all it holds unchangeable. Maps lose their writing methods, which `Object.freeze` alone leaves.
 * @module
 */

const refuse = (): never => {
  throw new TypeError('This map is frozen.')
}

/** Freezes a tree of plain objects, arrays and maps in place, and returns it. */
export function deepFreeze<T>(value: T): T {
  if (value === null || typeof value !== 'object' || Object.isFrozen(value)) return value
  if (value instanceof Map) {
    for (const member of value.values()) deepFreeze(member)
    for (const method of ['set', 'delete', 'clear']) Object.defineProperty(value, method, { value: refuse })
  } else {
    for (const member of Object.values(value)) deepFreeze(member)
  }
  return Object.freeze(value)
}
