import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { sessionId } from '../../packages/core/src/base/ids.ts'
import { mintToken } from '../../packages/server/src/gateway/http/access/access.ts'
import { freePort } from '../support/free-port.ts'
import { answers, foreignNodes, makeSession, message, say } from './hands.ts'
import { HOSTILE } from './hostile.ts'
import { openStage } from './stage.ts'

/** What people, models, networks and servers do to the page that nobody wished for. */
const { open, visit } = openStage()

describe('the page, when somebody or something is against it', { timeout: 120_000 }, () => {
  it('shows 200 hostile texts as text, wherever they stand', async (ctx) => {
    const script = () => ({ text: HOSTILE[turn % HOSTILE.length] ?? '' })
    let turn = 0
    const place = await open(ctx, { model: { script } })
    const id = await makeSession(place)
    for (let at = 0; at < HOSTILE.length; at += 20) {
      turn = at
      await place.ask(id, HOSTILE.slice(at, at + 20).join('\n\n\n'))
    }
    await place.runtime.session(id as never).pin({
      source: 'test',
      key: 'pin',
      name: 'rule',
      text: HOSTILE[1] ?? '',
    })
    const { page, problems } = await visit(ctx, `${place.url}/#/sessions/${id}`)
    await page.locator('.is-assistant').last().waitFor()
    const shown = await textOfWhole(page)
    // Without the marks of Markdown, and with the characters that references stand for.
    const flat = (text: string) => text.replaceAll(/[`*#_\s-]/g, '')
    const read = (text: string) =>
      text
        .replaceAll('```html', '')
        .replaceAll(/&(lt|#60);/g, '<')
        .replaceAll(/&(gt|#62);/g, '>')
    const all = flat(shown)
    for (const text of HOSTILE) expect(all).toContain(flat(read(text)))
    for (const tab of ['Context', 'Compactions']) {
      await page.getByRole('link', { name: tab }).click()
      await page
        .locator(tab === 'Context' ? '.part' : '.chart canvas')
        .first()
        .waitFor()
      expect(await foreignNodes(page)).toEqual([])
    }
    const detail = page.locator('.part > summary')
    await page.getByRole('link', { name: 'Context' }).click()
    for (const part of (await detail.all()).slice(0, 5)) await part.click()
    await page.getByRole('searchbox').fill('pwned')
    await page.getByRole('searchbox').press('Enter')
    await page.locator('.found').first().waitFor()
    expect(await foreignNodes(page)).toEqual([])
    expect(await page.evaluate('window.pwned')).toBeUndefined()
    expect(problems).toEqual([])
  })

  it('is not held up by texts of nothing but marks, and shows all of them', async (ctx) => {
    const place = await open(ctx, {
      windowTokens: 1_000_000,
      model: { script: () => ({ text: 'ok' }) },
    })
    const id = await makeSession(place)
    // So few that all of them stand in the document at once.
    const marks = ['w\n\n# w\n', '`w` **w** http://w.w ', '```\nw\n```\n**`w']
    const times = (mark: string) => Math.floor(19_000 / mark.length)
    for (const mark of marks) await place.ask(id, mark.repeat(times(mark)))
    const { page, problems } = await visit(ctx, `${place.url}/#/sessions/${id}`)
    for (const [index, mark] of marks.entries()) {
      const said = page.locator('.is-input .said').nth(index)
      const words = (await said.textContent())?.split('w').length ?? 0
      expect(words - 1).toBe(times(mark) * (mark.split('w').length - 1))
      expect(await said.locator('*').count()).toBeLessThan(1_100)
    }
    expect(problems).toEqual([])
  })

  it('shows the end of an answer that is too long, while it is written', async (ctx) => {
    const text = Array.from({ length: 9_000 }, (_, index) => `word${index}`).join(' ')
    const place = await open(ctx, { model: { script: () => ({ text }) } })
    const id = await makeSession(place)
    place.model.faults.next('stall-mid-stream; after=0.5')
    const { page } = await visit(ctx, `${place.url}/#/sessions/${id}`)
    await say(page, 'Tell me all of it.')
    const said = page.locator('.writing .said')
    await said.getByText('word4000 ').waitFor()
    expect(await said.textContent()).not.toContain('word0 ')
    await said.getByRole('button', { name: /Show all/ }).click()
    await said.getByText('word0 ').waitFor()
  })

  it('keeps foreign words in their place, whichever way they want to be read', async (ctx) => {
    const place = await open(ctx)
    const id = await makeSession(place)
    const content = '\u202eeht si siht <script>window.pwned=1</script>'
    const tasks = { tasks: [{ content, status: 'pending' }] }
    await place.ask(id, `use tasks ${JSON.stringify(tasks)}\nthen\nsay Kept.`)
    const { page } = await visit(ctx, `${place.url}/#/sessions/${id}`)
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('button', { name: 'Tasks…' }).click()
    const task = page.locator('.task')
    const left = async (part: string) => (await task.locator(part).boundingBox())?.x ?? 0
    await task.waitFor()
    expect(await left('.task-mark')).toBeLessThan(await left('.task-text'))
    expect(await left('.task-text')).toBeLessThan(await left('.dim'))
    expect(await foreignNodes(page)).toEqual([])
  })

  it('begins anew when the server comes back with another store', async (ctx) => {
    const port = await freePort()
    const first = await open(ctx, { port })
    await makeSession(first, 'before')
    const { page } = await visit(ctx, first.url)
    const rows = page.locator('.list .row')
    await rows.getByText('before').waitFor()
    await first.close()
    await page.getByText('Connection lost').waitFor()
    const second = await open(ctx, { port })
    await makeSession(second, 'behind')
    // Until it has begun anew, it may show the new one beside the old.
    await expect.poll(() => rows.allTextContents()).toEqual([expect.stringContaining('behind')])
  })

  it('reads what it missed when the connection is back', async (ctx) => {
    const place = await open(ctx)
    const id = await makeSession(place)
    for (let turn = 1; turn <= 20; turn++) await place.ask(id, `say This is turn ${turn}.`)
    const { page } = await visit(ctx, `${place.url}/#/sessions/${id}`)
    await answers(page).getByText('This is turn 20.').waitFor()
    // Whoever stands at the end is kept there while the rest of it comes.
    await page.locator('.page:empty').first().waitFor({ state: 'detached' })
    await page.context().setOffline(true)
    await page.locator('.transcript').evaluate((element) => {
      element.scrollTop = 0
    })
    await page.getByText('Cannot reach the server').waitFor()
    await page.context().setOffline(false)
    await answers(page).getByText('This is turn 1.').waitFor()
    await page.getByText('Cannot reach the server').waitFor({ state: 'detached' })
  })

  it('keeps what it was told of a session since it asked for the list of all', async (ctx) => {
    const place = await open(ctx)
    const id = await makeSession(place)
    const { page } = await visit(ctx, 'about:blank')
    const [read, told] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await page.route('**/v1/sessions?limit=*', async (route) => {
      const response = await route.fetch()
      read.resolve()
      await told.promise
      await route.fulfill({ response })
    })
    await page.goto(place.url)
    await read.promise
    place.model.faults.next('stall-mid-stream; after=0.5')
    const parts = [{ type: 'text' as const, text: 'say A story without an end.' }]
    await place.runtime.session(sessionId(id)).admit({ source: 'test', key: 'long', parts })
    const chip = page.locator('.list .row .chip')
    await expect.poll(() => chip.allTextContents()).toEqual(['turn'])
    told.resolve()
    await page.getByText('1 session', { exact: true }).waitFor()
    expect(await chip.allTextContents()).toEqual(['turn'])
  })

  it('tells by the clock of the server how long ago something was', async (ctx) => {
    const place = await open(ctx)
    const id = await makeSession(place)
    await place.ask(id, 'say Just now.')
    const { page } = await visit(ctx, 'about:blank')
    await page.addInitScript('{ const now = Date.now; Date.now = () => now() + 3 * 3_600_000 }')
    await page.goto(place.url)
    await page.locator('.row', { hasText: /now|\d s ago/ }).waitFor()
    expect(await page.getByText(/ h ago/).count()).toBe(0)
  })

  it('is used without a mouse: begin, say, look at another session, come back', async (ctx) => {
    const place = await open(ctx)
    await makeSession(place, 'other')
    const { page, problems } = await visit(ctx, place.url)
    await page.locator('.row').waitFor()
    const isOn = async (
      role: 'textbox' | 'link' | 'searchbox' | 'button',
      name: string | RegExp,
    ) => {
      const wanted = page.getByRole(role, { name })
      for (let presses = 0; presses < 30; presses++) {
        if (await wanted.evaluateAll((all) => all.some((each) => each.matches(':focus')))) return
        await page.keyboard.press('Tab')
      }
      expect.fail(`the keyboard does not reach ${role} ${name}`)
    }
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await isOn('textbox', 'First message')
    await page.keyboard.type('say By keyboard.')
    await page.keyboard.press('Enter')
    await answers(page).getByText('By keyboard.').waitFor()
    await isOn('button', /^More/)
    await page.keyboard.press('Enter')
    await isOn('button', 'Tasks…')
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'Tasks' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('region', { name: 'Tasks' }).waitFor({ state: 'detached' })
    await expect
      .poll(() => message(page).evaluate((element) => element.matches(':focus')))
      .toBe(true)
    await page.evaluate('document.activeElement.blur()')
    await page.keyboard.press('/')
    await isOn('searchbox', /searches all/)
    await isOn('link', /By keyboard|other/)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByText('No messages yet').waitFor()
    await isOn('link', 'Context')
    await page.keyboard.press('Enter')
    await page.getByText('built from the conversation').waitFor()
    expect(problems).toEqual([])
  })

  it('sends from two tabs at once, each message once', async (ctx) => {
    const place = await open(ctx)
    const id = await makeSession(place)
    const tabs = await Promise.all([1, 2].map(() => visit(ctx, `${place.url}/#/sessions/${id}`)))
    await Promise.all(
      tabs.map(async ({ page }, tab) => {
        for (let n = 1; n <= 2; n++) await say(page, `say Tab ${tab}, number ${n}.`)
      }),
    )
    for (const { page } of tabs) {
      await page.getByText('main is idle').waitFor()
      await expect.poll(() => page.locator('.is-input[data-entry]').count()).toBe(4)
      await page.locator('.upcoming .entry').first().waitFor({ state: 'detached' })
      for (const tab of [0, 1]) {
        const said = page.locator('.is-input[data-entry]', { hasText: `Tab ${tab}` })
        expect(await said.locator('.said').allTextContents()).toEqual(
          [1, 2].map((n) => `say Tab ${tab}, number ${n}.`),
        )
      }
    }
  })

  it('asks for a token where the server does, again when it runs out, and keeps it out of the address', async (ctx) => {
    const { text, record } = mintToken({
      id: 't1',
      scopes: ['write'],
      label: 'page',
      now: Date.now(),
    })
    const tokens = {
      listTokens: async () => [record],
      findToken: async ({ hash }: { hash: string }) => (hash === record.hash ? record : undefined),
    }
    const place = await open(ctx, { tokens })
    const { page } = await visit(ctx, place.url)
    await page.getByLabel('Token').fill('tl_wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('A valid token is needed').waitFor()
    await page.getByLabel('Token').fill(text)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'New session' }).click()
    await say(page, 'say Let in.')
    await answers(page).getByText('Let in.').waitFor()
    expect(page.url()).not.toContain(text)
    expect(await page.evaluate('document.cookie + JSON.stringify(localStorage)')).toBe('{}')
    // It runs out: whoever only listens is let go too, and what was typed is there afterwards.
    await message(page).fill('Half a sentence, and')
    Object.assign(record, { expiresAt: 1 })
    await page.getByText('This server requires a token').waitFor()
    Object.assign(record, { expiresAt: null })
    await page.getByLabel('Token').fill(text)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await answers(page).getByText('Let in.').waitFor()
    expect(await message(page).inputValue()).toBe('Half a sentence, and')
  })
})

/** The text of every message, from the first to the last, by scrolling through. */
async function textOfWhole(page: Page): Promise<string> {
  const box = page.locator('.transcript')
  const seen = new Map<string, string>()
  // How long the whole is, is known only of what was looked at.
  const total = () => box.evaluate((element) => element.scrollHeight)
  for (let top = 0; top <= (await total()) + 400; top += 400) {
    await box.evaluate((element, to) => {
      element.scrollTop = to
    }, top)
    // The place is looked at two frames later, and then what stands there is read.
    await page.evaluate(
      'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))',
    )
    await page.locator('.page:empty').first().waitFor({ state: 'detached' })
    expect(await foreignNodes(page)).toEqual([])
    const found = await page
      .locator('[data-entry]')
      .evaluateAll((entries) =>
        entries.map((entry) => [entry.getAttribute('data-entry') ?? '', entry.textContent ?? '']),
      )
    for (const [number = '', text = ''] of found) seen.set(number, text)
  }
  return [...seen.values()].join('\n')
}
