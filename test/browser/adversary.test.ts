import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { mintToken } from '../../packages/server/src/gateway/http/access/access.ts'
import { answers, foreignNodes, makeSession, message, say } from './hands.ts'
import { HOSTILE } from './hostile.ts'
import { openStage } from './stage.ts'

/** Hostile or faulty input of people, models, networks and servers to the page. */
const { open, visit } = openStage()

describe('the page against hostile input and a failing server', { timeout: 120_000 }, () => {
  it('shows 200 hostile texts as text, in every place', async (ctx) => {
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
        .locator(tab === 'Context' ? '.part' : '.chart .line')
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

  it('asks for a token if the server requires one, again when it expires, and keeps it out of the address', async (ctx) => {
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
    await page.getByText('The server does not accept this token.').waitFor()
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
