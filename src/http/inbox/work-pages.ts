/**
 * The pages of tools, routines and runs that only show.
 * @module
 */
import type { Context, Hono } from 'hono'
import { showTools } from '../api/routine-tools.ts'
import type { Routine } from '../../grants/routines/routines.ts'
import type { Trace } from '../../gate/traces.ts'
import { sees } from '../person.ts'
import { automaticPage, type Confirming } from './automatic.ts'
import { connectionsPage } from './connections.ts'
import type { InboxParts } from './parts.ts'
import { proofOf, routinePage, type RoutineShown } from './routine.ts'
import { routinesPage } from './routine-list.ts'
import type { Proof, RoutineTool } from './routine-tool.ts'
import type { Site } from './site.ts'
import { toolsPage, type ToolsShown } from './tools.ts'
import { tracePage } from './trace.ts'
import { isId, type Place, placeOf, placesOf, routineOf, toolsOf, type Work } from './work.ts'

const ROUTINES = 50
const CALLS = 50
const LATELY = 200
/** How many pages of calls are looked through for one that proves a tool. */
const MOST_PAGES = 10

/** Adds them. */
export function addWorkPages(app: Hono, { asker }: InboxParts, work: Work, { base, entry, answers }: Site): void {
  const { show, shows, askToSignIn } = answers
  const noRun = (c: Context) => answers.say(c, 404, 'There is no such run.', ELSEWHERE)

  app.get('/inbox/tools', async (c) => {
    const signed = await entry.signed(c)
    if (signed === undefined) return askToSignIn(c, `${base}/tools`)
    const places = await placesOf(work, signed.person)
    const found = await Promise.all(places.map(async (place) => ({ place, tools: await toolsOf(work, place) })))
    return show(c, 200, connectionsPage(shows(signed), found))
  })

  app.get('/inbox/tools/:slug', async (c) => {
    const [slug, brand] = [c.req.param('slug'), c.req.query('brand')]
    const signed = await entry.signed(c)
    if (signed === undefined)
      return askToSignIn(c, `${base}/tools/${slug}${brand === undefined ? '' : `?brand=${brand}`}`)
    const place = await placeOf(work, signed.person, slug, brand)
    if (place === undefined) return answers.say(c, 404, NO_CONNECTION, ELSEWHERE)
    const shown = await toolsShown(work, place)
    const accepted = shown.tools.find(({ tool }) => tool === c.req.query('accepted'))
    const told = accepted && `${accepted.tool} is accepted${accepted.state === 'open' ? ' and open' : ''}.`
    return show(c, 200, toolsPage(shows(signed), { ...shown, ...(told && { told }) }))
  })

  app.get('/inbox/routines', async (c) => {
    const signed = await entry.signed(c)
    if (signed === undefined) return askToSignIn(c, `${base}/routines`)
    const brand = signed.person.kind === 'approver' ? signed.person.brand : undefined
    const { items, nextCursor } = await work.routines.list({ brand, limit: ROUTINES, ...after(c) })
    const listed = items.map(async (routine) => ({ routine, tools: await work.routines.tools(routine.id) }))
    return show(c, 200, routinesPage(shows(signed), await Promise.all(listed), nextCursor))
  })

  app.get('/inbox/routines/:id', async (c) => {
    const id = c.req.param('id')
    const signed = await entry.signed(c)
    if (signed === undefined) return askToSignIn(c, `${base}/routines/${id}`)
    const routine = await routineOf(work, signed.person, id)
    if (routine === undefined) return answers.say(c, 404, NO_ROUTINE, ELSEWHERE)
    const shown = await routineShown(work, routine)
    const told = toldOf(c, shown)
    return show(c, 200, routinePage(shows(signed), { ...shown, ...(told && { told }) }))
  })

  app.get('/inbox/routines/:id/automatic', async (c) => {
    const id = c.req.param('id')
    const signed = await entry.signed(c)
    if (signed === undefined) return askToSignIn(c, `${base}/routines/${id}`)
    const routine = await routineOf(work, signed.person, id)
    if (routine === undefined) return answers.say(c, 404, NO_ROUTINE, ELSEWHERE)
    if (signed.person.kind !== 'operator') return answers.say(c, 403, ONLY_OPERATOR, WHY_OPERATOR)
    const confirming = await confirmingOf(work, routine, c.req.query('tool') ?? '')
    if (confirming === undefined) return answers.say(c, 404, 'This routine has no such tool.')
    return show(c, 200, automaticPage(shows(signed), confirming))
  })

  app.get('/inbox/traces/:id', async (c) => {
    const id = c.req.param('id')
    const signed = await entry.signed(c)
    if (signed === undefined) return askToSignIn(c, `${base}/traces/${id}`)
    const found = isId(id) ? await work.traces.ofSession(id, { limit: CALLS + 1, ...after(c) }) : []
    const [first] = found
    if (first === undefined || !sees(signed.person, first.brand)) return noRun(c)
    const steps = found.slice(0, CALLS).map(async (trace) => {
      const card = trace.card === null ? undefined : await work.cards.get(trace.card)
      return { trace, ...(card && sees(signed.person, card.brand) && { card }) }
    })
    const routine = await routineOf(work, signed.person, first.routine)
    const who = await asker(id)
    const more = found.length > CALLS ? found[CALLS - 1]?.id : undefined
    const before = Number(c.req.query('first') ?? 0)
    return show(
      c,
      200,
      tracePage(shows(signed), {
        sessionId: id,
        steps: await Promise.all(steps),
        first: Number.isSafeInteger(before) && before > 0 ? before : 0,
        ...(routine && { routine }),
        ...(who && { asker: who }),
        ...(more && { more }),
      }),
    )
  })
}

/** Where the page before ended. */
function after(c: Context): { readonly cursor?: string } {
  const cursor = c.req.query('after')
  return isId(cursor) ? { cursor } : {}
}

export const NO_CONNECTION = 'There is no such connection.'
export const NO_ROUTINE = 'There is no such routine.'
export const ELSEWHERE = 'It may belong to another gateway or to another brand.'
export const ONLY_OPERATOR = 'Only the operator changes this, so nothing was changed.'
export const WHY_OPERATOR = 'An approver says yes or no to single calls. Sign in with the admin key for this.'

/** What the page of a connection shows, as things stand now. */
export async function toolsShown(work: Work, place: Place): Promise<ToolsShown> {
  return { place, tools: await toolsOf(work, place), pinned: work.pins.of(place.connector) !== undefined }
}

/** What the page of a routine shows, as things stand now. */
export async function routineShown(work: Work, routine: Routine): Promise<RoutineShown> {
  await work.connections.wake(routine.brand)
  const tools = await showTools(work, routine)
  return { routine, tools, traces: await work.traces.ofRoutine(routine.id, { limit: LATELY }) }
}

/** What the page before automatic shows; undefined for a tool that the routine does not have. */
export async function confirmingOf(work: Work, routine: Routine, name: string): Promise<Confirming | undefined> {
  await work.connections.wake(routine.brand)
  const tool = (await showTools(work, routine)).find((one) => one.tool === name)
  return tool && { routine, tool, proof: tool.proven ? await findProof(work, routine, tool) : undefined }
}

async function findProof({ traces }: Work, { id }: Routine, tool: RoutineTool): Promise<Proof | undefined> {
  let cursor: string | undefined
  for (let page = 0; page < MOST_PAGES; page++) {
    const found: readonly Trace[] = await traces.ofRoutine(id, { tool: tool.tool, limit: LATELY, cursor })
    const proof = proofOf(tool, found)
    if (proof !== undefined || found.length < LATELY) return proof
    cursor = found.at(-1)?.id
  }
  return undefined
}

/** What somebody changed a moment ago, as it is now. */
function toldOf(c: Context, { routine, tools }: RoutineShown): string | undefined {
  if (c.req.query('ready') !== undefined && routine.state === 'ready') return 'It is ready.'
  const changed = tools.find(({ tool }) => tool === c.req.query('set'))
  return changed && `${changed.listedAs} is ${changed.state} now.`
}
