/**
 * How a routine becomes a session: unattended only where it is ready, supervised also as a draft. Pure.
 * @module
 */
import type { RoutinePolicy } from '../../policy/routines.ts'
import type { IssueRequest } from '../../session/issue.ts'
import type { SessionClaims } from '../../session/claims.ts'
import type { Routine } from './rows.ts'

/** What the caller may still choose when a routine says the rest. */
export type RoutineAsked = Pick<IssueRequest, 'route' | 'subject' | 'ttlSeconds'>

export type RoutineStart =
  | {
      readonly ok: true
      readonly request: IssueRequest
      /** What its claims say besides. */
      readonly claims: Pick<SessionClaims, 'routine' | 'grant'>
    }
  | { readonly ok: false; readonly problem: 'routine_not_ready' | 'nothing_enabled'; readonly detail: string }

/** The session of a routine. `digestOf`: of a tool as it is now, where it is open. */
export function routineStart(
  routine: Routine,
  policy: RoutinePolicy,
  { supervised, ...asked }: RoutineAsked & { readonly supervised: boolean },
  digestOf: (tool: string) => string | undefined,
): RoutineStart {
  const called = `The routine ${JSON.stringify(routine.name)}`
  if (!supervised && policy.state !== 'ready') {
    const because = routine.stateBecause === null ? '' : ` (${routine.stateBecause})`
    const detail = `${called} is a draft${because}, so it cannot run unattended. Start a supervised session, or make it ready.`
    return { ok: false, problem: 'routine_not_ready', detail }
  }
  const tools = [...policy.tools].flatMap(([tool, { digest }]) => (digestOf(tool) === digest ? [tool] : []))
  if (tools.length === 0) {
    const detail = `${called} has no tool that is enabled under its present definition and there right now.`
    return { ok: false, problem: 'nothing_enabled', detail }
  }
  const request: IssueRequest = {
    ...asked,
    brand: routine.brand,
    role: ROUTINE_ROLE,
    subject: asked.subject ?? routine.id,
    tools: tools.sort(),
    approval: { channel: supervised ? 'inbox' : routine.channel },
  }
  return {
    ok: true,
    request,
    claims: {
      routine: { id: routine.id, version: policy.version, supervised },
      grant: { connectors: [], skills: [], allowance: { ...routine.allowance } },
    },
  }
}

/** The role of a routine's sessions: its policy file gives nothing but what the routine says. */
export const ROUTINE_ROLE = 'routine'
