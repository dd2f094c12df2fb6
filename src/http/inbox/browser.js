/**
 * What the inbox does better with JavaScript: cards arrive and leave while the page is open, times count down, and two
 * comforts that a person switches on. Everything works without it. No library, nothing from elsewhere, and no key or
 * event that decides anything.
 */
;(() => {
  const { base, events, now } = document.body.dataset
  const $ = (id) => document.getElementById(id)
  const cards = $('cards')
  /** How far this machine's clock is from the gateway's, in milliseconds. */
  const ahead = now === undefined ? 0 : Date.now() - Number(now)

  // Times that run out.

  function spell(ms) {
    const seconds = Math.max(0, Math.ceil(ms / 1000))
    if (seconds === 0) return 'no time left'
    const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)]
    if (hours > 0) return `${hours} h ${minutes} min left`
    return minutes > 9 ? `${minutes} minutes left` : `${minutes}:${String(seconds % 60).padStart(2, '0')} left`
  }

  function tick() {
    for (const place of document.querySelectorAll('[data-ends]')) {
      const ms = Date.parse(place.dataset.ends) - (Date.now() - ahead)
      const words = spell(ms)
      if (place.textContent !== words) place.textContent = words
      place.classList.toggle('soon', ms < 60_000)
      if (ms > 0) continue
      for (const button of place.closest('article')?.querySelectorAll('.decide button') ?? []) button.disabled = true
    }
  }
  tick()
  setInterval(tick, 1000)

  // What changes.

  function tell(words) {
    const told = $('told')
    if (told !== null) told.textContent = words
  }

  function count() {
    const waiting = cards.querySelectorAll('[data-card]:not([data-moved])').length
    $('count').textContent = String(waiting)
    $('none').hidden = cards.children.length > 0
    document.title = `${waiting === 0 ? '' : `(${waiting}) `}Inbox · Tollgate`
  }

  const placeOf = (id) => cards.querySelector(`[data-card="${CSS.escape(id)}"]`)

  /** The card as it stands in the list now, as an element; undefined when it is not to be had. */
  async function itemOf(id) {
    const address = new URL(`${base}/cards/${encodeURIComponent(id)}`, location.href)
    address.search = location.search
    address.searchParams.set('as', 'item')
    const answer = await fetch(address, { credentials: 'same-origin' }).catch(() => undefined)
    if (answer === undefined || !answer.ok) return undefined
    return new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('[data-card]') ?? undefined
  }

  /** New ones go to the end, and one that moved keeps its height: nothing slips under a hand on its way to a button. */
  async function refresh(id) {
    const item = await itemOf(id)
    const place = placeOf(id)
    if (item === undefined) return
    const moved = item.dataset.moved !== undefined
    if (place === null) {
      if (moved) return
      item.classList.add('fresh')
      cards.append(item)
      tell(`A new call waits: ${item.querySelector('h3')?.textContent ?? ''}`)
    } else if (moved && place.dataset.moved === undefined) {
      item.style.minHeight = `${place.getBoundingClientRect().height}px`
      const hadFocus = place.contains(document.activeElement)
      place.replaceWith(item)
      if (hadFocus) item.querySelector('a')?.focus()
      tell(`${item.querySelector('h3')?.textContent ?? 'A call'}: ${item.querySelector('.badge')?.textContent ?? ''}`)
    }
    tick()
    count()
  }

  /** The page of one card: it shows the new state at once, unless somebody is writing on it. */
  function cardMoved(status) {
    const article = document.querySelector('article[data-card]')
    if (article === null || article.dataset.status === status) return
    const writes = document.activeElement?.closest('.decide') != null
    if (!writes) return location.reload()
    article.dataset.status = status
    for (const button of article.querySelectorAll('.decide button')) button.disabled = true
    tell('This card was decided meanwhile. Reload the page to see how.')
  }

  /** One after the other, so that two notices of one card do not make two of it. */
  let last = Promise.resolve()
  const then = (work) => {
    last = last.then(work).catch(() => {})
  }

  if (events !== undefined && 'EventSource' in window) {
    const source = new EventSource(events)
    source.addEventListener('waiting', ({ data }) => {
      if (cards === null || new URLSearchParams(location.search).has('after')) return
      const ids = JSON.parse(data)
      const shown = [...cards.querySelectorAll('[data-card]:not([data-moved])')].map((item) => item.dataset.card)
      for (const id of [...ids.filter((id) => !shown.includes(id)), ...shown.filter((id) => !ids.includes(id))]) {
        then(() => refresh(id))
      }
    })
    source.addEventListener('card', ({ data }) => {
      const { id, status, title, brand } = JSON.parse(data)
      if (cards === null) return cardMoved(status)
      if (status === 'pending') notify(id, title, brand)
      if (status === 'pending' || placeOf(id) !== null) then(() => refresh(id))
    })
    source.addEventListener('out', () => {
      source.close()
      location.reload()
    })
    addEventListener('pagehide', () => source.close())
  }
  // A page that the browser kept shows what was; its cards may be decided.
  addEventListener('pageshow', ({ persisted }) => persisted && location.reload())

  // Two comforts, off until somebody wants them.

  const wants = (name) => localStorage.getItem(`tollgate-${name}`) === 'on'
  const want = (name, on) => localStorage.setItem(`tollgate-${name}`, on ? 'on' : 'off')

  function notify(id, title, brand) {
    if (!document.hidden || !('Notification' in window)) return
    if (Notification.permission !== 'granted' || !wants('notify')) return
    const note = new Notification('A call waits for you', { body: `${title} (${brand})`, tag: id })
    note.onclick = () => {
      window.focus()
      location.assign(`${base}/cards/${encodeURIComponent(id)}`)
    }
  }

  const extras = $('extras')
  if (extras === null) return
  extras.hidden = false

  const asking = $('notify')
  function showNotify() {
    const on = Notification.permission === 'granted' && wants('notify')
    asking.textContent = on ? 'Stop notifying me' : 'Notify me on this device'
  }
  if ('Notification' in window && Notification.permission !== 'denied' && isSecureContext) {
    asking.hidden = false
    showNotify()
    asking.addEventListener('click', async () => {
      const on = Notification.permission === 'granted' && wants('notify')
      want('notify', !on && (await Notification.requestPermission()) === 'granted')
      showNotify()
    })
  }

  const shortcuts = $('shortcuts')
  function showShortcuts() {
    const on = wants('keys')
    shortcuts.setAttribute('aria-pressed', String(on))
    shortcuts.querySelector('span').textContent = on ? 'on' : 'off'
    $('keys').hidden = !on
  }
  showShortcuts()
  shortcuts.addEventListener('click', () => {
    want('keys', !wants('keys'))
    showShortcuts()
  })

  function step(by) {
    const links = [...document.querySelectorAll('.cards h3 a, .decided .head a')]
    const at = links.findIndex((link) => link.closest('li').contains(document.activeElement))
    links[Math.min(links.length - 1, Math.max(0, at < 0 && by > 0 ? 0 : at + by))]?.focus()
  }

  addEventListener('keydown', (event) => {
    if (!wants('keys') || event.ctrlKey || event.metaKey || event.altKey) return
    if (event.target.closest('input, textarea, select') !== null) return
    const { key } = event
    if (key === 'j') step(1)
    else if (key === 'k') step(-1)
    else if (key === 'o') document.activeElement?.closest('li')?.querySelector('h3 a, .head a')?.click()
    else if (key === 'u') location.assign(base)
    else if (key === 'f') document.querySelector('.filter summary')?.click()
    else return
    event.preventDefault()
  })
})()
