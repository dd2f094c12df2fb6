/**
 * What a person does about tools and routines: accept a definition, change one tool of a routine, make a routine ready.
 * The operator alone; each form is of this sign-in and carries what its page showed.
 * @module
 */
import type { Context, Hono } from 'hono'
import type { Conflict, Routine } from '../../grants/routines/routines.ts'
import { type Refusal, TOOL_STATES, type ToolState } from '../../policy/routines.ts'
import { findTool } from '../api/routine-tools.ts'
import { nameOf } from '../person.ts'
import { automaticPage } from './automatic.ts'
import { problemBox } from './decide.ts'
import { routinePage } from './routine.ts'
import type { Signed } from './signed.ts'
import { ownForm, type Site } from './site.ts'
import { toolsPage } from './tools.ts'
import { addressOfPlace, placeOf, routineOf, type Work } from './work.ts'
import {
  confirmingOf,
  ELSEWHERE,
  NO_CONNECTION,
  NO_ROUTINE,
  ONLY_OPERATOR,
  routineShown,
  toolsShown,
  WHY_OPERATOR,
} from './work-pages.ts'

type Own = { readonly signed: Signed; readonly fields: URLSearchParams }
type Done = Awaited<ReturnType<Work['routines']['ready']>>

/** Adds them. */
export function addWorkForms(app: Hono, work: Work, site: Site): void {
  const { pins, registry, routines } = work
  const { base, answers } = site
  const { say, show, shows } = answers
  const onlyOperator = (c: Context) => say(c, 403, ONLY_OPERATOR, WHY_OPERATOR)

  app.post('/inbox/tools/:slug/accept', async (c) => {
    const own = await ownForm(c, site, `${base}/tools`)
    if (own instanceof Response) return own
    const { signed, fields } = own
    const place = await placeOf(work, signed.person, c.req.param('slug'), fields.get('brand') ?? undefined)
    if (place === undefined) return say(c, 404, NO_CONNECTION, ELSEWHERE)
    if (signed.person.kind !== 'operator') return onlyOperator(c)
    const guarded = pins.of(place.connector)
    if (guarded === undefined)
      return say(c, 422, 'The tools of this connection are not pinned, so nothing was accepted.')
    const tool = fields.get('tool') ?? ''
    const accepted = await pins.accept(guarded, tool, fields.get('digest') ?? '', nameOf(signed.person))
    if (accepted.ok) {
      const address = addressOfPlace(base, place)
      return c.redirect(`${address}${address.includes('?') ? '&' : '?'}accepted=${encodeURIComponent(tool)}`, 303)
    }
    if (accepted.problem === 'not_found') return say(c, 404, 'This connection has no such tool.')
    const problem = problemBox(accepted.problem === 'changed' ? CHANGED_TOOL : UNDISCOVERED)
    return show(c, 409, toolsPage(shows(signed), { ...(await toolsShown(work, place)), problem }))
  })

  app.post('/inbox/routines/:id/tools', async (c) => {
    const own = await ownOfRoutine(c)
    if (own instanceof Response) return own
    const { signed, fields, routine } = own
    const [name, to] = [fields.get('tool') ?? '', fields.get('to') ?? '']
    if (!isState(to)) return say(c, 422, 'Choose one of the ways offered.')
    await work.connections.wake(routine.brand)
    const found = findTool(registry, routine, name)
    if (found === undefined) return say(c, 404, 'This routine has no such tool.')
    if (found.tool.digest !== fields.get('digest')) return asItIs(c, signed, routine, 409, CHANGED_TOOL)
    const confirm = fields.get('confirm') ?? undefined
    const wanted = { ...found, to, confirm, version: versionOf(fields) }
    const done = await routines.setTool(routine.id, wanted, nameOf(signed.person))
    if (done.ok) return c.redirect(`${addressOf(routine)}?set=${encodeURIComponent(name)}`, 303)
    if (to === 'automatic' && done.problem === 'refused' && done.refusal.status === 409) {
      const confirming = await confirmingOf(work, routine, name)
      const problem = problemBox(...wordsOf(done.refusal))
      if (confirming !== undefined) return show(c, 409, automaticPage(shows(signed), { ...confirming, problem }))
    }
    return refused(c, signed, routine, done)
  })

  app.post('/inbox/routines/:id/ready', async (c) => {
    const own = await ownOfRoutine(c)
    if (own instanceof Response) return own
    const { signed, fields, routine } = own
    await work.connections.wake(routine.brand)
    const digests = new Map(registry.tools(routine.brand).map(({ name, digest }) => [name, digest]))
    const digestOf = (tool: string) => digests.get(tool)
    const done = await routines.ready(routine.id, versionOf(fields), digestOf, nameOf(signed.person))
    return done.ok ? c.redirect(`${addressOf(routine)}?ready`, 303) : refused(c, signed, routine, done)
  })

  const addressOf = ({ id }: Routine): string => `${base}/routines/${encodeURIComponent(id)}`

  /** The operator's own form about a routine that there is, or the answer that refuses it. */
  async function ownOfRoutine(c: Context): Promise<(Own & { readonly routine: Routine }) | Response> {
    const id = c.req.param('id') ?? ''
    const own = await ownForm(c, site, `${base}/routines/${id}`)
    if (own instanceof Response) return own
    const routine = await routineOf(work, own.signed.person, id)
    if (routine === undefined) return say(c, 404, NO_ROUTINE, ELSEWHERE)
    if (own.signed.person.kind !== 'operator') return onlyOperator(c)
    return { ...own, routine }
  }

  function refused(c: Context, signed: Signed, routine: Routine, done: Extract<Done, { ok: false }>) {
    if (done.problem === 'conflict') {
      return asItIs(c, signed, done.conflict.now, 409, CONFLICT, meanwhile(done.conflict))
    }
    if (done.problem !== 'refused') return say(c, 404, NO_ROUTINE, ELSEWHERE)
    return asItIs(c, signed, routine, done.refusal.status, ...wordsOf(done.refusal))
  }

  /** The routine as it is now, with why nothing was changed. */
  async function asItIs(
    c: Context,
    signed: Signed,
    routine: Routine,
    status: 409 | 422,
    why: string,
    details: readonly string[] = [],
  ) {
    const shown = await routineShown(work, routine)
    return show(c, status, routinePage(shows(signed), { ...shown, problem: problemBox(why, details) }))
  }
}

const CHANGED_TOOL =
  'The tool is described otherwise than your page showed, so nothing was changed. This is how it is now; read it again.'
const UNDISCOVERED = 'Nothing of this server is written down yet, so nothing was accepted. Try again in a moment.'
const CONFLICT =
  'The routine was changed since your page was made, so nothing of yours was changed. This is how it is now.'

const meanwhile = ({ since }: Conflict): readonly string[] => since.map(({ what, by }) => `${what}, by ${by}`)

/** Why a change was refused, for a person at a page. */
function wordsOf({ code, detail }: Refusal): [string, readonly string[]] {
  if (code === 'automatic_tool_confirmation_required') {
    return ['Nothing was changed: it needs your confirmation of exactly this sentence.', []]
  }
  return ['Nothing was changed.', [detail]]
}

const isState = (to: string): to is ToolState => (TOOL_STATES as readonly string[]).includes(to)

/** The version that the page showed. One that is none matches none. */
const versionOf = (fields: URLSearchParams): number => {
  const version = Number(fields.get('version') ?? '')
  return Number.isSafeInteger(version) && version > 0 ? version : 0
}
