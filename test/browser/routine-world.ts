/**
 * What happens to routines while somebody looks at them: made, run with a person present, and tools that change.
 * @module
 */
import { TOOLS, type World } from './world.ts'

/** A routine of acme over the server `files`; its id. */
export async function makeRoutine({ gateway }: World, name: string, description = ''): Promise<string> {
  const { status, body } = await gateway.api('POST', '/v1/routines', {
    brand: 'acme',
    name,
    description,
    connections: ['files'],
  })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body.id
}

/** A supervised session that writes a file once a person approved it. */
export async function supervised(world: World, routine: string, args: object): Promise<{ readonly session: string }> {
  const { status, body } = await world.gateway.api('POST', '/v1/sessions', { routine, supervised: true })
  if (status !== 201) throw new Error(JSON.stringify(body))
  await approved(world, body.token, args)
  return { session: body.id }
}

/** One call of that session that somebody approves, and that runs. */
export async function approved(world: World, token: string, args: object, tool?: string): Promise<void> {
  const card = await world.call(args, { token, ...(tool !== undefined && { tool }) })
  await world.gateway.api('POST', `/v1/approvals/${card}/approve`, {})
  await world.ended(card, 'done')
}

/** A server describes one of its tools otherwise, and is read again. */
export async function changeTool({ upstream, gateway }: World, server: string, name: string, more: object) {
  upstream.setTools(TOOLS.map((tool) => (tool.name === name ? { ...tool, ...more } : tool)))
  const { status, body } = await gateway.api('POST', `/v1/connections/${server}/discover`)
  if (status !== 200) throw new Error(JSON.stringify(body))
}
