/** The inbox for everybody: without JavaScript, by keyboard, on a phone, in the dark, and for who cannot see it. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { violations } from './axe.ts'
import { inBrowser } from './skip.ts'
import { ADMIN_KEY, createWorld, item, type World } from './world.ts'

const PHONE = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }

inBrowser('in a browser, everybody can use it', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld()
  })
  afterAll(() => world?.close())

  it('everything works without JavaScript, and says when a call expires', async () => {
    const id = await world.call({ path: 'plain.md', content: 'x' }, { brand: 'plain' })
    const like = await world.call({ path: 'like/a.md', content: 'x' }, { brand: 'plain' })
    const page = await world.page({ key: ADMIN_KEY, javaScriptEnabled: false })
    await page.getByText('+ Filter').or(page.getByText('Filter')).first().click()
    await page.getByLabel('Brand').fill('plain')
    await page.getByRole('button', { name: 'Show these' }).click()
    expect(await page.locator('#cards > li').count()).toBe(2)
    expect(await item(page, 'plain.md').locator('.expiry').textContent()).toMatch(
      /^Expires \d\d:\d\d:\d\d UTC, \d+ (minutes|seconds) left$/,
    )
    await item(page, 'plain.md').getByRole('button', { name: 'Approve once' }).click()
    await page.getByText('This call was approved by operator').waitFor()
    await world.ended(id, 'done')
    await item(page, 'like/a.md').getByRole('link', { name: 'More choices' }).click()
    expect(await page.getByLabel('Calls, at most').isVisible()).toBe(false)
    await page.getByLabel('Calls like this one').check()
    expect(await page.getByLabel('It must begin with (text), or be at most (number)').inputValue()).toBe('like/')
    await page.getByLabel('Calls, at most').fill('2')
    await page.getByRole('button', { name: 'Approve' }).click()
    await world.ended(like, 'done')
    await page.getByRole('link', { name: 'Standing approvals' }).click()
    await page.getByText('Used').waitFor()
    expect(await page.locator('main').textContent()).toContain('begins with like/')
    await page.getByRole('button', { name: 'Revoke' }).first().click()
    await page.getByText('It is revoked.').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  it('can be used by keyboard alone, and its shortcuts are off until somebody wants them', async () => {
    const brand = 'keys'
    await world.call({ path: 'one.md', content: 'x' }, { brand })
    const id = await world.call({ path: 'two.md', content: 'x' }, { brand })
    const page = await world.page({ key: (await world.approver(brand, 'Kay')).token })
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content')
    await page.keyboard.press('Enter')
    await page.keyboard.press('j')
    expect(await page.evaluate('document.activeElement.id')).toBe('main')
    const shortcuts = page.getByRole('button', { name: /Keyboard shortcuts/ })
    await shortcuts.press('Enter')
    expect(await shortcuts.getAttribute('aria-pressed')).toBe('true')
    await page.getByText('No key decides anything by itself.').waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('o')
    await page.waitForURL(`**/cards/${id}`)
    await page.getByRole('button', { name: 'Deny' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('This call was denied').waitFor()
    expect(await world.statusOf(id)).toBe('denied')
  })

  it('fits a phone, in the light and in the dark', async () => {
    const brand = 'phone'
    const id = await world.call({ path: 'a/'.repeat(80), content: 'word '.repeat(300) }, { brand })
    const page = await world.page({ ...PHONE, key: (await world.approver(brand, 'Pat')).token, colorScheme: 'dark' })
    for (const path of ['/inbox', `/inbox/cards/${id}`, '/inbox/history', '/inbox/standing']) {
      await page.goto(path)
      expect([path, await page.evaluate('document.documentElement.scrollWidth <= innerWidth')]).toEqual([path, true])
    }
    await page.goto(`/inbox/cards/${id}`)
    const colours = async (colorScheme: 'light' | 'dark') => {
      await page.emulateMedia({ colorScheme })
      return page.evaluate('getComputedStyle(document.body).backgroundColor')
    }
    expect(await colours('dark')).not.toBe(await colours('light'))
    for (const button of await page.locator('.decide button').all()) {
      expect((await button.boundingBox())!.height).toBeGreaterThanOrEqual(44)
    }
    await page.getByRole('button', { name: 'Approve' }).tap()
    await world.ended(id, 'done')
  })

  it('asks for notifications only when somebody presses the button', async () => {
    const page = await world.page({ key: ADMIN_KEY, permissions: [] })
    await page.addInitScript(`
      globalThis.asked = 0
      Notification.requestPermission = async () => (globalThis.asked++, 'denied')
      Object.defineProperty(Notification, 'permission', { get: () => 'default' })
    `)
    await page.goto('/inbox')
    const asked = () => page.evaluate('asked')
    const button = page.getByRole('button', { name: 'Notify me on this device' })
    await button.waitFor()
    expect(await asked()).toBe(0)
    await button.click()
    expect(await asked()).toBe(1)
  })

  it('has no violation that axe finds, on any page, in light or dark', async () => {
    const brand = 'axe'
    const id = await world.call({ path: 'axe.md', content: 'line\nline' }, { brand })
    const hostile = await world.call({ path: 'p\u0430y\u202e', content: 'z'.repeat(5_000) }, { brand })
    const costly = await world.call({ query: 'q' }, { brand, tool: 'search__find' })
    const unknown = await world.call({ flight: 'LH 401' }, { brand, tool: 'mail__book' })
    await world.gateway.api('POST', `/v1/approvals/${unknown}/approve`, {})
    await world.ended(unknown, 'unknown')
    const standing = await world.call({ path: 'stands.md', content: 'x' }, { brand })
    await world.gateway.api('POST', `/v1/approvals/${standing}/approve`, { scope: 'session', note: 'every day' })
    await world.ended(standing, 'done')
    const page = await world.page()
    await page.goto('/inbox')
    const found = await violations(page)
    await page.getByLabel('Approver token or admin key').fill('wrong')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    found.push(...(await violations(page)))
    await world.signIn(page, (await world.approver(brand, 'Axel')).token)
    const cards = [id, hostile, costly, unknown, standing].map((each) => `/inbox/cards/${each}`)
    const lists = ['/inbox', '/inbox?role=nobody', '/inbox/history', '/inbox/standing', '/inbox/nowhere']
    for (const path of [...lists, ...cards]) {
      await page.goto(path)
      for (const details of await page.locator('details').all())
        await details.evaluate((it) => it.setAttribute('open', ''))
      const similar = page.getByLabel('Calls like this one')
      if ((await similar.count()) > 0) await similar.check()
      found.push(...(await violations(page)))
    }
    expect(found).toEqual([])
  }, 180_000)
})
