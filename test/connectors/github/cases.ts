/**
 * Cases that every tool of GitHub has: the errors of the contract, and what goes wrong with a repository's name.
 * @module
 */
import type { ToolCases, Works } from '../suite.ts'
import { documented } from './answers.ts'

/** A moment in so many seconds, as GitHub says when requests are allowed again. */
export const ago = (seconds: number) => String(Math.floor(Date.now() / 1000) + seconds)

/** The errors of the contract, and what goes wrong with a repository's name, for any tool. */
export function cases(first: Works, more: Omit<ToolCases, 'works'> & { works?: readonly Works[] } = {}): ToolCases {
  return {
    ...more,
    works: [first, ...(more.works ?? [])],
    fails: { ...documented(first), ...more.fails },
    bad: {
      'a repository that is no owner/name': {
        args: { ...first.args, repository: 'acme/..' },
        says: /"repository": owner\/name/,
      },
      ...more.bad,
    },
    forbidden: {
      'another repository': {
        args: { ...first.args, repository: 'acme/payroll' },
        says: /acme\/payroll is not a repository of this connection, which is for acme\/shop/,
      },
      ...more.forbidden,
    },
  }
}
