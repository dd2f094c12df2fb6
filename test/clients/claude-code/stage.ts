/**
 * What a scene has at hand: sessions, the client, the person who decides, and what really ran.
 * @module
 */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Gateway } from '../../support/gateway.ts'
import type { Upstream } from '../../support/upstream.ts'
import type { Client, HowToRun, Ran } from './client.ts'
import type { Model, Said, Turn } from './model.ts'

export interface Stage {
  /** A person's session, as REST issued it. */
  session(request?: object): Promise<Issued>
  /** Runs the client through these turns, one after another; a text ends the scene. Answers what each turn was shown. */
  perform(session: Issued, turns: readonly Line[], how?: Partial<HowToRun>): Promise<Performed>
  /** The cards of a session, newest first. */
  cards(session: Issued): Promise<any[]>
  /** Waits for the one card that is pending, and decides it. */
  decide(session: Issued, how: 'approve' | 'deny', body?: object): Promise<string>
  /** Waits until a card has a status. */
  becomes(id: string, status: string): Promise<void>
  /** How often the upstream ran a tool with a mark among its arguments. */
  ran(mark: string): number
}

export interface Issued {
  readonly id: string
  readonly token: string
  readonly configs: any
}

export type Line = Said | ((turn: Turn) => Said | Promise<Said>)

export interface Performed extends Ran {
  readonly turns: readonly Turn[]
  /** A file of the working folder; '' when there is none. */
  file(name: string): Promise<string>
}

/** Builds the stage of one scene. */
export function createStage(gateway: Gateway, upstream: Upstream, client: Client, model: Model): Stage {
  const cards: Stage['cards'] = async ({ id }) => (await gateway.api('GET', `/v1/approvals?sessionId=${id}`)).body.items

  return {
    cards,
    async session(request = {}) {
      const { status, body } = await gateway.api('POST', '/v1/sessions', { role: 'person-chat', ...request })
      assert.equal(status, 201, JSON.stringify(body))
      return body
    },
    async perform(session, lines, how = {}) {
      const turns: Turn[] = []
      model.play((turn) => {
        turns[turn.number] = turn
        const line = lines[turn.number] ?? { text: 'That was more than the scene has.' }
        return typeof line === 'function' ? line(turn) : line
      })
      const { configs, token } = session
      const ran = await client.run({ configs, token, modelUrl: model.url, ...how })
      const seen = turns.map(({ number, result }) => `${number}: ${result.slice(0, 400)}`).join('\n     ')
      assert.equal(ran.code, 0, `the client ended with ${ran.code}: ${ran.err.slice(0, 500)}${ran.out.slice(-500)}`)
      assert.equal(turns.length, lines.length, `the scene has ${lines.length} turns, and went\n     ${seen}`)
      const file = (name: string) => readFile(join(ran.folder, name), 'utf8').catch(() => '')
      return { ...ran, turns, file }
    },
    async decide(session, how, body = {}) {
      let card: any
      await until(`a card of ${session.id} is pending`, async () => {
        card = (await cards(session)).find(({ status }) => status === 'pending')
        return card !== undefined
      })
      const { status, body: answer } = await gateway.api('POST', `/v1/approvals/${card.id}/${how}`, body)
      assert.equal(status, 200, JSON.stringify(answer))
      return card.id
    },
    becomes: (id, status) =>
      until(`card ${id} is ${status}`, async () => {
        return (await gateway.api('GET', `/v1/approvals/${id}`)).body.status === status
      }),
    ran: (mark) => upstream.ledger.filter(({ argumentsText = '' }) => argumentsText.includes(mark)).length,
  }
}

async function until(what: string, check: () => Promise<boolean>, ms = 30_000): Promise<void> {
  const end = performance.now() + ms
  while (!(await check())) {
    if (performance.now() > end) throw new Error(`Waited ${ms} ms in vain: ${what}.`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
