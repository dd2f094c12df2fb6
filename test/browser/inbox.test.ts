/** The inbox as people have it: in a real browser, over a whole gateway. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { inBrowser } from './skip.ts'
import { ADMIN_KEY, createWorld, item, type World } from './world.ts'

inBrowser('in a browser, people decide', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld()
  })
  afterAll(() => world?.close())

  it('a person signs in, watches a call arrive, approves it, and it runs once', async () => {
    const { token } = await world.approver('arrive', 'Ann')
    const page = await world.page()
    await page.goto('/inbox')
    await page.getByLabel('Approver token or admin key').fill('not it')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('This key is wrong.').waitFor()
    await world.signIn(page, token)
    await page.getByText('Nothing waits for you.').waitFor()
    const id = await world.call({ path: 'arrives.md', content: 'x' }, { brand: 'arrive' })
    await item(page, 'arrives.md').waitFor()
    expect(await page.title()).toBe('(1) Inbox · Tollgate')
    expect(await page.getByText('Nothing waits for you.').isVisible()).toBe(false)
    await item(page, 'arrives.md').getByLabel(/^Note/).fill('go on')
    await item(page, 'arrives.md').getByRole('button', { name: 'Approve once' }).click()
    await page.getByText('This call was approved by approver Ann').waitFor()
    await world.ended(id, 'done')
    const card = await world.card(id)
    expect(card).toMatchObject({ decidedBy: 'approver Ann', decidedVia: 'inbox', note: 'go on' })
    const ran = world.upstream.ledger.filter(({ argumentsText }) => argumentsText?.includes('arrives.md'))
    expect(ran.map(({ argumentsText }) => argumentsText)).toEqual(['{"path":"arrives.md","content":"x"}'])
  })

  it('a no is told to the caller, with its note', async () => {
    const token = await world.session('deny')
    const id = await world.call({ path: 'no.md', content: 'x' }, { token })
    const page = await world.page({ key: ADMIN_KEY })
    await item(page, 'no.md').getByLabel(/^Note/).fill('not this folder')
    await item(page, 'no.md').getByRole('button', { name: 'Deny' }).click()
    await page.getByText('This call was denied by operator').waitFor()
    expect(await world.statusOf(id)).toBe('denied')
    const { answer } = await world.gateway.rpc(token, 'tools/call', {
      name: 'files__write_file',
      arguments: { path: 'no.md', content: 'x' },
    })
    expect(answer.result.content[0].text).toContain('not this folder')
  })

  it('a card that somebody else decides is taken from the open list without moving the others', async () => {
    const { token } = await world.approver('others', 'Eve')
    const [first, second] = [
      await world.call({ path: 'first.md', content: 'x' }, { brand: 'others' }),
      await world.call({ path: 'second.md', content: 'x' }, { brand: 'others' }),
    ]
    const page = await world.page({ key: token })
    const button = item(page, 'second.md').getByRole('button', { name: 'Approve once' })
    const before = await button.boundingBox()
    await world.gateway.api('POST', `/v1/approvals/${first}/deny`, {})
    await page.locator(`[data-card="${first}"] .badge`, { hasText: 'Denied' }).waitFor()
    expect(await button.boundingBox()).toEqual(before)
    expect(await page.title()).toBe('(1) Inbox · Tollgate')
    expect(await world.statusOf(second)).toBe('pending')
  })

  it('a card page shows the end of its call by itself', async () => {
    const id = await world.call({ path: 'watched.md', content: 'x' }, { brand: 'watch' })
    const page = await world.page({ key: ADMIN_KEY })
    await page.goto(`/inbox/cards/${id}`)
    await world.gateway.api('POST', `/v1/approvals/${id}/approve`, {})
    await page.locator('.badge', { hasText: /^Ran$/ }).waitFor()
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0)
  })

  it('a yes for the session covers the same call, and no other', async () => {
    const token = await world.session('scope')
    const ask = (path: string) =>
      world.gateway.rpc(token, 'tools/call', { name: 'files__write_file', arguments: { path, content: 'x' } })
    const id = await world.call({ path: 'daily.md', content: 'x' }, { token })
    const page = await world.page({ key: ADMIN_KEY })
    await page.goto(`/inbox/cards/${id}`)
    await page.getByLabel('This very call, as often as this session asks').check()
    await page.getByRole('button', { name: 'Approve' }).click()
    await world.ended(id, 'done')
    await ask('daily.md')
    expect((await ask('daily.md')).answer.result.content[0].text).toBe('Done.')
    expect((await ask('other.md')).answer.result.content[0].text).toContain('approval_pending')
  })

  it('an outcome that nobody knows is settled by who looked', async () => {
    const id = await world.call({ flight: 'LH 400' }, { tool: 'mail__book', brand: 'settle' })
    await world.gateway.api('POST', `/v1/approvals/${id}/approve`, {})
    await world.ended(id, 'unknown')
    const page = await world.page({ key: (await world.approver('settle', 'Sam')).token })
    await page.getByRole('heading', { name: 'Outcome unknown' }).waitFor()
    await page.locator('.decided a', { hasText: 'Book flight' }).first().click()
    await page.getByRole('button', { name: 'It did not happen' }).click()
    await page.waitForURL(/decided=/)
    expect(await world.card(id)).toMatchObject({ status: 'failed', settled: 'did_not' })
  })
})
