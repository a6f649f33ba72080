import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { sessionId } from '../../packages/core/src/base/ids.ts'
import { heldHandoffs } from '../support/held-handoffs.ts'
import { answers, makeSession, message, say } from './hands.ts'
import { NOTE_WRITING } from './in-page.ts'
import { type Place, type PlaceOptions, SUMMARIES } from './place.ts'
import { openStage } from './stage.ts'

/** The page in a real browser, before the real product. */
const stage = openStage()
const { open, visit } = stage

const FILLER = 'The pump ran without a fault until the evening. '.repeat(150)
const WINDOW_TOKENS = 16_000
const noted: PlaceOptions['model'] = {
  script: ({ model }) => (model === SUMMARIES ? undefined : { text: 'Noted.' }),
}

/** A session with one compaction in effect. */
async function makeCompacted(place: Place): Promise<string> {
  const id = await makeSession(place)
  for (let turn = 1; turn <= 4; turn++) await place.ask(id, `Report ${turn}. ${FILLER}`)
  const { compaction } = (await place.runtime.session(id as never).summary()) ?? {}
  if (compaction === null) {
    await place.runtime.session(id as never).compact({ source: 'test', key: 'once' })
  }
  while ((await place.runtime.session(id as never).summary())?.compaction === null) await sleep(50)
  return id
}

/** Answers what is asked about that session only once `until` holds: what was read is old by then. */
async function answerLate(page: Page, id: string, until: () => Promise<unknown>): Promise<void> {
  await page.route(`**/v1/sessions/${id}`, async (route) => {
    const response = await route.fetch()
    await until()
    await route.fulfill({ response })
  })
}

// One after another: what is looked at lasts only so long, and browsers want the processors.
describe('the page', { timeout: 120_000 }, () => {
  it('leads from the first visit to the first answer', async (ctx) => {
    const place = await open(ctx)
    const { page, problems } = await visit(ctx, place.url)
    await page.getByRole('button', { name: 'New session' }).click()
    await say(page, 'say The river is **high** today.')
    await answers(page).getByText('The river is').waitFor()
    expect(await answers(page).locator('strong').textContent()).toBe('high')
    await page.getByText('main is idle').waitFor()
    await expect.poll(() => page.locator('.upcoming .entry').count()).toBe(0)
    expect(await message(page).inputValue()).toBe('')
    expect(problems).toEqual([])
  })

  it('begins one session, however often and early one presses Enter', async (ctx) => {
    const place = await open(ctx)
    const { page } = await visit(ctx, place.url)
    const pressed = Promise.withResolvers<void>()
    // The page does not know its agents yet.
    await page.route('**/v1/agents', async (route) => {
      await pressed.promise
      await route.continue()
    })
    await page.reload({ waitUntil: 'domcontentloaded' })
    await page.route('**/v1/sessions', async (route) => {
      if (route.request().method() === 'POST') await pressed.promise
      await route.continue()
    })
    const first = page.getByRole('textbox', { name: 'First message' })
    await first.fill('say Once.')
    await first.press('Enter')
    await expect.poll(() => first.isDisabled()).toBe(true)
    await page.keyboard.press('Enter')
    pressed.resolve()
    await answers(page).getByText('Once.').waitFor()
    await page.waitForTimeout(400)
    expect(await place.runtime.listSessions({ limit: 10 })).toHaveLength(1)
  })

  it('shows an answer while it is written, takes a void attempt back, and ends with it once', async (ctx) => {
    // So slow that a page on a busy machine draws the second attempt long before it is as long.
    const place = await open(ctx, { model: { speed: { outputTokensPerSecond: 8 } } })
    // The first attempt breaks off towards its end and is made again.
    place.model.faults.next('cut-stream; after=0.9; how=fin', {
      when: ({ model }) => model !== SUMMARIES,
    })
    const id = await makeSession(place)
    const { page, problems } = await visit(ctx, `${place.url}/#/sessions/${id}`)
    await page.evaluate(NOTE_WRITING)
    const words = Array.from({ length: 20 }, (_, index) => `word${index}`).join(' ')
    await say(page, `say ${words}`)
    await answers(page).getByText('word19').waitFor({ timeout: 60_000 })
    const all = (await page.evaluate('seen')) as string[]
    const seen = all.filter((text) => text !== '')
    expect(seen.length).toBeGreaterThan(3)
    for (const text of seen) expect(words.startsWith(text)).toBe(true)
    // It grew, started again, and grew to the end.
    const isShorter = (text: string, index: number) => text.length < (seen[index - 1] ?? '').length
    expect(seen.some(isShorter)).toBe(true)
    await page.getByText('main is idle').waitFor()
    await expect.poll(() => page.getByText('word19').count()).toBe(2)
    expect(problems).toEqual([])
  })

  it('shows an answer as it is written even if the page’s request from before the turn is answered late', async (ctx) => {
    const place = await open(ctx, { model: { speed: { outputTokensPerSecond: 8 } } })
    const id = await makeSession(place)
    const { page, problems } = await visit(ctx, place.url)
    const { promise: isWriting, resolve } = Promise.withResolvers<void>()
    await answerLate(page, id, () => isWriting)
    await page.goto(`${place.url}/#/sessions/${id}`)
    await page.evaluate(NOTE_WRITING)
    const words = Array.from({ length: 20 }, (_, index) => `word${index}`).join(' ')
    await say(page, `say ${words}`)
    await page.locator('.writing').getByText('word2').waitFor()
    resolve()
    await answers(page).getByText('word19').waitFor()
    const seen = ((await page.evaluate('seen')) as string[]).filter((text) => text !== '')
    for (const text of seen) expect(words.startsWith(text)).toBe(true)
    expect(problems).toEqual([])
  })

  it('shows an answer from its first word to a visitor who arrives in the middle of it', async (ctx) => {
    const place = await open(ctx)
    const id = await makeSession(place)
    const { page, problems } = await visit(ctx, place.url)
    // Half of it comes; then the model is silent.
    place.model.faults.next('stall-mid-stream; after=0.5')
    const words = Array.from({ length: 20 }, (_, index) => `word${index}`).join(' ')
    const parts = [{ type: 'text' as const, text: `say ${words}` }]
    const session = place.runtime.session(sessionId(id))
    await session.admit({ source: 'test', key: 'long', parts })
    const said = page.locator('.writing .said')
    const row = page.locator('.list .row')
    await row.locator('.chip.turn').waitFor()
    expect(await page.evaluate('document.getAnimations().length')).toBeGreaterThan(0)
    await page.emulateMedia({ reducedMotion: 'reduce' })
    expect(await page.evaluate('document.getAnimations().length')).toBe(0)
    await row.click()
    await said.getByText('word8').waitFor()
    expect(words.startsWith((await said.textContent()) ?? '-')).toBe(true)
    await page.reload()
    await said.getByText('word8').waitFor()
    expect(words.startsWith((await said.textContent()) ?? '-')).toBe(true)
    await session.stop({ source: 'test', key: 'stop' })
    await page.getByText('main is idle').waitFor()
    await expect.poll(() => page.locator('[data-entry]', { hasText: 'word8' }).count()).toBe(2)
    await expect.poll(() => page.locator('.upcoming .entry').count()).toBe(0)
    expect(problems).toEqual([])
  })

  it('sends a message once, however often the answer to it is lost', async (ctx) => {
    const place = await open(ctx)
    const id = await makeSession(place)
    const { page } = await visit(ctx, `${place.url}/#/sessions/${id}`)
    let sent = 0
    await page.route('**/messages', async (route) => {
      sent++
      // The server takes it; the page never learns.
      await route.fetch()
      if (sent < 3) await route.abort()
      else await route.continue()
    })
    await say(page, 'say Once.')
    await expect.poll(() => sent, { timeout: 15_000 }).toBe(3)
    await answers(page).getByText('Once.').waitFor()
    await expect.poll(() => page.locator('.upcoming .entry').count()).toBe(0)
    expect(await page.locator('.is-input', { hasText: 'say Once.' }).count()).toBe(1)
    expect(await answers(page).count()).toBe(1)
  })

  it('shows images as pixels, those kept beside the transcript too, and fetches none', async (ctx) => {
    const place = await open(ctx)
    const id = await makeSession(place)
    const data = readFileSync(join(import.meta.dirname, 'dot.png')).toString('base64')
    const image = (mediaType: string, bytes: string) =>
      ({ type: 'image', source: { kind: 'base64', mediaType, data: bytes } }) as const
    const elsewhere = {
      type: 'image',
      source: { kind: 'url', url: 'https://example.org/a.png' },
    } as const
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'.padEnd(3_000)).toString(
      'base64',
    )
    await place.runtime.session(id as never).admit({
      ...{ source: 'test', key: 'images' },
      parts: [image('image/png', data), image('image/svg+xml', svg), elsewhere],
    })
    const { page } = await visit(ctx, `${place.url}/#/sessions/${id}`)
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.reload()
    const picture = page.locator('.is-input img')
    await picture.waitFor()
    const widths =
      "[...document.querySelectorAll('.is-input img')].map((each) => each.naturalWidth)"
    expect(await page.evaluate(widths)).toEqual([40])
    await page.getByText('Image of type image/svg+xml').waitFor()
    await page.getByText('Image at https://example.org/a.png').waitFor()
    const foreign = asked.filter((url) => !url.startsWith(place.url) && !url.startsWith('data:'))
    expect(foreign).toEqual([])
  })

  it('shows a handoff being prepared and installed while the person types', async (ctx) => {
    const { seams, release } = heldHandoffs()
    const place = await open(ctx, { windowTokens: WINDOW_TOKENS, model: noted, seams })
    const id = await makeSession(place)
    const { page, problems } = await visit(ctx, `${place.url}/#/sessions/${id}`)
    const isPreparing = async () =>
      (await place.runtime.session(id as never).summary())?.isCompacting === true
    for (let turn = 1; !(await isPreparing()); turn++) {
      await place.ask(id, `Report ${turn}. ${FILLER}`)
      await page.waitForTimeout(200)
      expect(turn).toBeLessThan(10)
    }
    await page.locator('.session-title .chip.preparing').waitFor()
    const before = (await place.runtime.session(id as never).summary())?.entries ?? 0
    await message(page).focus()
    const typed = 'While it is prepared I go on typing, and nothing is lost.'
    await page.keyboard.type(typed.slice(0, 30))
    release()
    await page.keyboard.type(typed.slice(30), { delay: 20 })
    await page.locator('.handoff').waitFor()
    await page.locator('.entry.covered').first().waitFor()
    expect(await message(page).inputValue()).toBe(typed)
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Message')
    // What was compacted is still there to be read.
    expect(await page.locator('article[data-entry]').count()).toBeGreaterThanOrEqual(before)
    await message(page).press('Enter')
    await page.locator('.is-input').getByText(typed).waitFor()
    expect(problems).toEqual([])
  })

  it('shows a message sent at the hard limit as stored until it is read', async (ctx) => {
    const { seams, release } = heldHandoffs()
    const settings = { softShare: 1 }
    const place = await open(ctx, { windowTokens: WINDOW_TOKENS, model: noted, settings, seams })
    const id = await makeSession(place)
    for (let turn = 1; turn <= 5; turn++) await place.ask(id, `Report ${turn}. ${FILLER}`)
    const { page, problems } = await visit(ctx, `${place.url}/#/sessions/${id}`)
    await answerLate(page, id, () => sleep(150))
    const notice = page.locator('.notice')
    const session = place.runtime.session(sessionId(id))
    // The page keeps only what is near; the session itself knows whether it has answered.
    const isAnswered = async (turn: number) => {
      const now = await session.summary()
      return now !== undefined && now.turn > turn && now.state === 'idle'
    }
    for (let tries = 1; (await notice.count()) === 0; tries++) {
      const turn = (await session.summary())?.turn ?? 0
      await say(page, `Report ${tries}. ${FILLER}`)
      while ((await notice.count()) === 0 && !(await isAnswered(turn))) {
        await page.waitForTimeout(50)
      }
      expect(tries).toBeLessThan(12)
    }
    await page.getByText('waiting for a compaction').waitFor()
    // A later visitor sees the notice too: by another path in the same page, and after a reload.
    await page.goto(`${place.url}/#/`)
    await notice.waitFor({ state: 'detached' })
    await page.goto(`${place.url}/#/sessions/${id}`)
    await notice.waitFor()
    await page.reload()
    await notice.waitFor()
    await say(page, 'The valve is open.')
    // As the mailbox has it, not as the page remembers that it sent it.
    const mail = page.getByRole('article', { name: 'Queued message' })
    await mail.getByText('The valve is open.').waitFor()
    await mail.getByText('saved, will be read next').first().waitFor()
    release()
    const waiting = page.locator('.waiting', { hasText: 'The valve is open.' })
    await waiting.first().waitFor({ state: 'detached' })
    await page.locator('[data-entry]', { hasText: 'The valve is open.' }).waitFor()
    await notice.waitFor({ state: 'detached' })
    expect(problems).toEqual([])
  })

  it('undoes the newest compaction, and shows both sides of it', async (ctx) => {
    const place = await open(ctx, { windowTokens: WINDOW_TOKENS, model: noted })
    const id = await makeCompacted(place)
    const { page, problems } = await visit(ctx, `${place.url}/#/sessions/${id}`)
    await page.locator('.entry.covered').first().waitFor({ state: 'attached' })
    await page.getByRole('link', { name: 'Compactions' }).click()
    await page.locator('.chart .line').waitFor()
    await page.locator('.compaction.committed summary').first().click()
    await page.getByRole('heading', { name: /^Before: / }).waitFor()
    await page.getByRole('heading', { name: /^After: / }).waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('button', { name: 'Undo' }).waitFor({ state: 'detached' })
    await page.locator('.compaction.committed .chip').getByText('undone', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Conversation', exact: true }).click()
    await page.locator('.is-revert').getByText('was undone').waitFor()
    await page.getByText('Not in effect: it was undone.').waitFor()
    expect(await page.locator('.entry.covered').count()).toBe(0)
    expect((await place.runtime.session(id as never).summary())?.compaction).toBeNull()
    expect(problems).toEqual([])
  })

  it('warns of repeated compactions as they happen, until dismissed', async (ctx) => {
    const place = await open(ctx, { windowTokens: WINDOW_TOKENS, model: noted })
    const id = await makeCompacted(place)
    const { page, problems } = await visit(ctx, `${place.url}/#/sessions/${id}`)
    await page.locator('.entry.covered').first().waitFor({ state: 'attached' })
    const warning = page.getByRole('status').filter({ hasText: /compacted \d+ times/ })
    const session = place.runtime.session(sessionId(id))
    for (let turn = 5; (await warning.count()) === 0; turn++) {
      expect(turn).toBeLessThan(20)
      await place.ask(id, `Report ${turn}. ${FILLER}`)
      await session.compact({ source: 'test', key: `turn ${turn}` })
      while ((await session.summary())?.isCompacting === true) await sleep(50)
    }
    await warning.getByRole('button', { name: 'Dismiss' }).click()
    await warning.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Compactions' }).click()
    await page.locator('.compaction.committed summary').first().click()
    await page
      .getByText(/compacted \d+ times/)
      .first()
      .waitFor()
    expect(problems).toEqual([])
  })

  it('shows by the slider what the model saw at each step, and how two steps differ', async (ctx) => {
    const place = await open(ctx)
    const id = await makeSession(place)
    for (const word of ['BASALT', 'GRANITE', 'MARBLE'])
      await place.ask(id, `say The word is ${word}.`)
    const { page, problems } = await visit(ctx, `${place.url}/#/sessions/${id}`)
    const saw = page.getByRole('link', { name: 'What it saw' })
    await saw.nth(1).click()
    const parts = page.locator('.parts')
    await parts.getByText('GRANITE').first().waitFor()
    expect(await parts.getByText('MARBLE').count()).toBe(0)
    const slider = page.getByRole('slider')
    const middle = await slider.inputValue()
    await page.getByRole('button', { name: 'Earlier step' }).click()
    await parts.getByText('GRANITE').first().waitFor({ state: 'detached' })
    expect(await parts.getByText('BASALT').count()).toBe(1)
    await slider.fill(middle)
    await parts.getByText('GRANITE').first().waitFor()
    await slider.focus()
    await page.keyboard.press('End')
    await parts.getByText('MARBLE').first().waitFor()
    await page.getByLabel('Compare with another step').check()
    await page.getByRole('slider', { name: /Compared with/ }).fill(middle)
    const difference = page.getByRole('region', { name: 'Difference' })
    await difference.getByText('MARBLE').first().waitFor()
    expect(await difference.getByText('BASALT').count()).toBe(0)
    expect(await difference.locator('.removed').count()).toBe(0)
    expect(problems).toEqual([])
  })
})
