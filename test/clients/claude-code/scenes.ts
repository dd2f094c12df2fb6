/**
 * What the real client is put through, and what must come of it.
 * @module
 */
import assert from 'node:assert/strict'
import type { HowToRun } from './client.ts'
import type { Said } from './model.ts'
import type { Issued, Stage } from './stage.ts'

export interface Scene {
  readonly name: string
  /** Played before a gateway that holds calls for two minutes. */
  readonly patient?: true
  readonly scene: (stage: Stage) => Promise<void>
}

const DONE: Said = { text: 'The scene is over.' }
const gated = (mark: string): Said => ({ tool: 'mcp__gateway__box__increment', input: { mark } })
const bash = (command: string): Said => ({ tool: 'Bash', input: { command, description: 'A step of the scene' } })
const ONCE = bash('echo ran >> once.txt')

type Way = (session: Issued) => Partial<HowToRun>
/** The two ways by which the harness asks, each as the session was issued with it. */
const byPrompt: Way = ({ configs }) => ({ more: configs.claudeCode.permissionPrompt.flag })
const byHook: Way = ({ configs }) => ({
  files: { 'settings.json': configs.claudeCode.permissionPrompt.settings },
  more: '--settings settings.json',
})

/** A gated call of an upstream's tool: parked, told, approved, and the retry has the one result. */
async function gatedCall(stage: Stage, env: Record<string, string> = {}): Promise<void> {
  const session = await stage.session()
  const mark = `gated ${session.id}`
  const approveAndRetry = async (): Promise<Said> => {
    assert.equal(stage.ran(mark), 0, 'it ran before anyone approved it')
    await stage.becomes(await stage.decide(session, 'approve'), 'done')
    return gated(mark)
  }
  const { turns } = await stage.perform(session, [gated(mark), approveAndRetry, DONE], { ...byPrompt(session), env })
  assert.match(turns[1]!.result, /^approval_pending: .*exactly the same arguments/)
  assert.equal(turns[1]!.isError, false)
  assert.match(turns[2]!.result, /^\d+$/)
  assert.equal(stage.ran(mark), 1)
}

/** A call that is held for longer than the client waits for a first byte. */
async function heldLong(stage: Stage, first: Said, way: Way, check: (session: Issued) => void): Promise<string> {
  const session = await stage.session()
  const started = performance.now()
  const approving = new Promise((resolve) => setTimeout(resolve, 66_000)).then(() => stage.decide(session, 'approve'))
  const { turns, file } = await stage.perform(session, [first, DONE], way(session))
  await approving
  assert.ok(performance.now() - started > 65_000, 'the call was not held')
  assert.equal(turns[1]!.isError, false, turns[1]!.result)
  check(session)
  return file('once.txt')
}

const parked =
  (way: Way) =>
  async (stage: Stage): Promise<void> => {
    const session = await stage.session()
    const approve = async (): Promise<Said> => {
      await stage.decide(session, 'approve')
      return ONCE
    }
    const third = async (): Promise<Said> => ONCE
    const { turns, file } = await stage.perform(session, [ONCE, approve, third, DONE], way(session))
    assert.match(turns[1]!.result, /approval_pending: a person has to decide this Bash call/)
    assert.equal(turns[2]!.isError, false, turns[2]!.result)
    assert.match(turns[3]!.result, /approval_pending/, 'the same command again must ask again')
    assert.equal(await file('once.txt'), 'ran\n')
    const cards = await stage.cards(session)
    assert.deepEqual(cards.map(({ status }) => status).sort(), ['done', 'pending'])
    assert.equal(cards.find(({ status }) => status === 'done').outcome.handedTo, 'harness')
  }

const whileItWaits =
  (way: Way) =>
  async (stage: Stage): Promise<void> => {
    const session = await stage.session()
    const deciding = stage.decide(session, 'approve')
    const { turns, file } = await stage.perform(session, [ONCE, DONE], way(session))
    await deciding
    assert.equal(turns[1]!.isError, false, turns[1]!.result)
    assert.equal(await file('once.txt'), 'ran\n')
  }

const deniedScene =
  (way: Way) =>
  async (stage: Stage): Promise<void> => {
    const session = await stage.session()
    const deciding = stage.decide(session, 'deny', { note: 'Not on a Friday.' })
    const { turns, file } = await stage.perform(session, [ONCE, DONE], way(session))
    await deciding
    assert.match(turns[1]!.result, /approval_denied: .*Not on a Friday\./)
    assert.equal(turns[1]!.isError, true)
    assert.equal(await file('once.txt'), '')
  }

const bigFile =
  (way: Way) =>
  async (stage: Stage): Promise<void> => {
    const session = await stage.session()
    const content = Array.from({ length: 4_000 }, (_, i) => `line ${i}: “quoted” \\ and more of it\n`).join('')
    const deciding = stage.decide(session, 'approve')
    const write = (): Said => ({ tool: 'Write', input: { file_path: 'big.txt', content } })
    const { turns, file } = await stage.perform(session, [write, DONE], way(session))
    await deciding
    assert.equal(turns[1]!.isError, false, turns[1]!.result)
    assert.equal((await file('big.txt')) === content, true, 'the file is not what was approved')
  }

const readsRun =
  (way: Way) =>
  async (stage: Stage): Promise<void> => {
    const session = await stage.session()
    const read: Said = { tool: 'Read', input: { file_path: 'gateway.mcp.json' } }
    const echo: Said = { tool: 'mcp__gateway__box__echo', input: { text: 'hello' } }
    const { turns } = await stage.perform(session, [read, echo, DONE], way(session))
    assert.match(turns[1]!.result, /mcpServers/)
    assert.match(turns[2]!.result, /hello/)
    assert.deepEqual(await stage.cards(session), [])
    assert.ok(turns[0]!.tools.includes('Bash'))
  }

const WAYS: ReadonlyArray<readonly [string, Way]> = [
  ['--permission-prompt-tool', byPrompt],
  ['the PreToolUse hook', byHook],
]

export const SCENES: readonly Scene[] = [
  { name: 'a gated call is parked, told, approved, and its retry has the one result', scene: gatedCall },
  {
    name: 'the same in the older era of the protocol',
    scene: (stage) => gatedCall(stage, { MCP_PROTOCOL_NEGOTIATION: 'legacy' }),
  },
  {
    name: 'a gated call that is held for over 60 s is not dropped',
    patient: true,
    async scene(stage) {
      const mark = `held ${Math.random()}`
      await heldLong(stage, gated(mark), byPrompt, () => assert.equal(stage.ran(mark), 1))
    },
  },
  ...WAYS.flatMap(([name, way]): Scene[] => [
    { name: `${name}: reads and the gateway’s own tools run unasked`, scene: readsRun(way) },
    { name: `${name}: Bash is parked, approved, and ran once`, scene: parked(way) },
    { name: `${name}: Bash that waits runs when the approval arrives`, scene: whileItWaits(way) },
    { name: `${name}: Bash that is denied does not run, and the model is told why`, scene: deniedScene(way) },
    { name: `${name}: a large file is written as it was approved`, scene: bigFile(way) },
    {
      name: `${name}: Bash that is held for over 60 s is not dropped`,
      patient: true,
      async scene(stage) {
        assert.equal(await heldLong(stage, ONCE, way, () => {}), 'ran\n')
      },
    },
  ]),
  {
    name: 'the model is not shown the permission prompt',
    async scene(stage) {
      const session = await stage.session()
      const how = { ...byPrompt(session), env: { ENABLE_TOOL_SEARCH: 'false' } }
      const { turns } = await stage.perform(session, [DONE], how)
      assert.ok(turns[0]!.tools.includes('mcp__gateway__box__echo'), turns[0]!.tools.join())
      assert.ok(!turns[0]!.tools.some((name) => name.includes('permission_prompt')), turns[0]!.tools.join())
    },
  },
  {
    name: 'the PreToolUse hook: with a wrong token nothing runs',
    async scene(stage) {
      const session = await stage.session()
      const how = { ...byHook(session), token: 'not-a-token', more: '--settings settings.json --allowedTools Bash' }
      const { turns, file } = await stage.perform(session, [ONCE, DONE], how)
      assert.match(turns[1]!.result, /may not run: .*token/)
      assert.equal(await file('once.txt'), '')
    },
  },
  {
    name: 'the PreToolUse hook: with no gateway there nothing runs',
    async scene(stage) {
      const session = await stage.session()
      const settings = JSON.stringify(byHook(session).files).replace(/127\.0\.0\.1:\d+/, '127.0.0.1:9')
      const how = { files: JSON.parse(settings), more: '--settings settings.json --allowedTools Bash' }
      const { turns, file } = await stage.perform(session, [ONCE, DONE], how)
      assert.equal(turns[1]!.isError, true, turns[1]!.result)
      assert.equal(await file('once.txt'), '')
    },
  },
]
