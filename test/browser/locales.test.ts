import { describe, expect, it } from 'vitest'
import { makeSession } from './hands.ts'
import { openStage } from './stage.ts'

/** Browsers of people who write numbers otherwise: with a decimal comma, or in other digits. */
const stage = openStage()

const WRONG_NUMBERS = `[...document.querySelectorAll('.chart svg *')].flatMap((each) =>
  ['x', 'y', 'width', 'height', 'd']
    .map((name) => each.getAttribute(name))
    .filter((value) => value !== null && !/^[MLHVZh0-9. ]+$/.test(value)))`
const TALLEST_BAR = `Math.max(...[...document.querySelectorAll('.hours figure:first-child rect:not(.slot)')]
  .map((each) => each.getBoundingClientRect().height))`
const LINE_SIZE = `(() => {
  const { width, height } = document.querySelector('.chart .line').getBoundingClientRect()
  return Math.min(width, height)
})()`
const BAR_WIDTH = `Math.max(...[...document.querySelectorAll('.context-bar > span')].map((each) => each.getBoundingClientRect().width))`

describe.for(['de-DE', 'ar-EG', 'fa-IR'])(
  'in a browser set to %s',
  { timeout: 120_000 },
  (locale) => {
    it('draws its charts and writes its figures', async (ctx) => {
      const place = await stage.open(ctx, { windowTokens: 8_000 })
      const id = await makeSession(place)
      for (const text of ['say One.', 'say Two.', 'say Three.']) await place.ask(id, text)
      const { page, problems } = await stage.visit(ctx, place.url, { locale })
      expect(await page.evaluate('new Intl.NumberFormat().resolvedOptions().locale')).toBe(locale)
      await page.getByRole('img', { name: /^Turns per hour, at most 3 at \d\d:\d\d$/ }).waitFor()
      await page.getByText(/^1 session was active .* 3 turns ended\. \d model calls took/).waitFor()
      expect(await page.evaluate(WRONG_NUMBERS)).toEqual([])
      expect(await page.evaluate(TALLEST_BAR)).toBeGreaterThan(20)
      await page.getByText('As a table').click()
      const cells = page.locator('.last-day tbody tr td')
      expect(await cells.nth(1).textContent()).toBe('3')
      await page.goto(`${place.url}/#/sessions/${id}/compactions`)
      await page.getByRole('img', { name: /^Tokens of the context, now \d+ of / }).waitFor()
      expect(await page.evaluate(LINE_SIZE)).toBeGreaterThan(5)
      expect(await page.evaluate(WRONG_NUMBERS)).toEqual([])
      await page.goto(`${place.url}/#/sessions/${id}/context`)
      await page.locator('.context-bar').waitFor()
      expect(await page.evaluate(BAR_WIDTH)).toBeGreaterThan(0)
      expect(problems).toEqual([])
    })
  },
)
