/**
 * `npm run screens`: the pictures of the inbox that the README shows, taken anew.
 * @module
 */
import { join } from 'node:path'
import { startTracker, takeWork } from './screens-work.ts'
import { ADMIN_KEY, createWorld } from './world.ts'

const DOCS = join(import.meta.dirname, '..', '..', 'docs')
const DESK = { viewport: { width: 1200, height: 960 } }
const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true }

const tracker = await startTracker()
const world = await createWorld(
  { APPROVAL_TIMEOUT_MS: '2700000' },
  { tracker: { type: 'http', url: tracker.url, brands: '*', tools: { list_issues: 'read' } } },
)
try {
  await world.call({ path: 'notes/launch.md', content: '# Launch\n\nWe open on Monday at nine.\n' })
  const deceiving = await world.call(
    {
      to: 'billing@p\u0430ypal.example',
      subject: 'Invoice 2041\u202egpj.exe',
      text: 'Please find the invoice attached.\nIt is due on Friday.',
    },
    { tool: 'mail__send_message' },
  )
  const { token } = await world.approver('acme', 'Ann')
  const desk = await world.page({ ...DESK, key: token, colorScheme: 'light' })
  await desk.screenshot({ path: join(DOCS, 'inbox.png') })
  await desk.goto(`/inbox/cards/${deceiving}`)
  await desk.screenshot({ path: join(DOCS, 'inbox-card.png'), fullPage: true })
  const phone = await world.page({ ...PHONE, key: ADMIN_KEY, colorScheme: 'dark' })
  await phone.screenshot({ path: join(DOCS, 'inbox-phone.png') })
  await takeWork(world, tracker, DOCS)
  console.log('The pictures in docs/ are as the inbox looks now.')
} finally {
  await world.close()
  await tracker.close()
}
