import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { makeSession } from './hands.ts'
import { openStage, seriousFindings } from './stage.ts'

const stage = openStage()
const DAY_MS = 86_400_000

/** As a person in New York writes the day that lies so many days from today. */
const dayIn = (days: number) =>
  new Intl.DateTimeFormat('en-CA', { timeZone: 'America/New_York' }).format(
    Date.now() + days * DAY_MS,
  )

/** Searches with what the fields say, and gives what was found. */
async function search(page: Page): Promise<readonly string[]> {
  const answer = page.waitForResponse(/\/search\?/)
  await page.getByRole('button', { name: 'Search', exact: true }).click()
  const { found } = (await (await answer).json()) as { found: readonly unknown[] }
  await page.getByRole('status').getByText(`${found.length} found`).waitFor()
  return await page.locator('.found > span:last-child').allTextContents()
}

it('narrows a search by who spoke, tool, file, day, exact text and session', async (ctx) => {
  const place = await stage.open(ctx)
  await makeSession(place, 'pump')
  await makeSession(place, 'other')
  await place.ask('pump', 'say The valve is described in deploy/valve.yaml now.')
  const tasks = { tasks: [{ content: 'Check the valve', status: 'pending' }] }
  await place.ask('pump', `use tasks ${JSON.stringify(tasks)}\nthen\nsay Kept.`)
  await place.ask('other', 'say Another valve, elsewhere.')
  const { page, problems } = await stage.visit(ctx, place.url, { timezoneId: 'America/New_York' })
  await page.getByRole('searchbox', { name: /searches all/ }).fill('valve')
  await page.getByText('Filters', { exact: true }).click()
  const all = await search(page)
  expect(all.length).toBeGreaterThan(4)

  await page.getByLabel('Said by').selectOption('The agent')
  await page.getByText('Filters (1)').waitFor()
  const said = await search(page)
  expect(said.length).toBeLessThan(all.length)
  expect(said.some((text) => text.includes('Another valve'))).toBe(true)
  expect(said.filter((text) => text.includes('say '))).toEqual([])
  await page.getByRole('button', { name: 'Clear' }).click()

  await page.getByRole('textbox', { name: 'Tool' }).fill('tasks')
  const called = await search(page)
  expect(called.length).toBeGreaterThan(0)
  expect(called.every((text) => text.includes('Check the'))).toBe(true)
  await page.getByRole('button', { name: 'Clear' }).click()

  await page.getByRole('textbox', { name: 'File' }).fill('deploy/valve.yaml')
  expect((await search(page)).every((text) => text.includes('deploy/'))).toBe(true)
  await page.getByRole('button', { name: 'Clear' }).click()

  // The days are those of the person, and the last one belongs to them.
  for (const [from, to, count] of [
    [dayIn(-1), dayIn(1), all.length],
    [dayIn(2), '', 0],
    ['', dayIn(-2), 0],
  ] as const) {
    await page.getByLabel('From').fill(from)
    await page.getByLabel('To', { exact: true }).fill(to)
    expect(await search(page)).toHaveLength(count)
  }
  const asked = page.waitForRequest(/\/search\?/)
  await page.getByLabel('To', { exact: true }).fill('2026-03-08')
  await page.getByRole('button', { name: 'Search', exact: true }).click()
  // Where the clocks change, that day has 23 hours.
  expect(new URL((await asked).url()).searchParams.get('until')).toBe('2026-03-09T04:00:00.000Z')
  await page.getByRole('button', { name: 'Clear' }).click()

  await page.getByRole('searchbox', { name: /searches all/ }).fill('valve described')
  await page.getByLabel('Exact text').check()
  expect(await search(page)).toEqual([])
  await page.getByRole('button', { name: 'Clear' }).click()

  expect(await page.getByLabel('Only this session').count()).toBe(0)
  await page.goto(`${place.url}/#/sessions/other`)
  await page.getByRole('searchbox', { name: /searches all/ }).fill('valve')
  await page.getByLabel('Only this session').check()
  const here = await search(page)
  expect(here.length).toBeGreaterThan(0)
  expect(here.every((text) => text.includes('Another valve'))).toBe(true)
  expect(await seriousFindings(page, 'filters')).toEqual([])
  expect(problems).toEqual([])
}, 120_000)
