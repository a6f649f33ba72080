import type { Page } from 'playwright-core'
import { describe, expect, it, type TestContext } from 'vitest'
import { tokenFor, tokensOf } from '../product/http-place.ts'
import { answers, makeSession, message, say } from './hands.ts'
import type { Place } from './place.ts'
import { openStage } from './stage.ts'

/** What the page says when a provider fails, and what it offers to the holder of a token. */
const { open, visit } = openStage()

async function signIn(
  ctx: TestContext,
  place: Place,
  { text }: ReturnType<typeof tokenFor>,
): Promise<Page> {
  const { page } = await visit(ctx, place.url)
  await page.getByLabel('Token').fill(text)
  await page.getByRole('button', { name: 'Sign in' }).click()
  return page
}

const button = (page: Page, name: string) => page.getByRole('button', { name })

describe('a provider that fails', { timeout: 120_000 }, () => {
  it('is named with its status, its fault and the next try, and a failed turn looks failed', async (ctx) => {
    const place = await open(ctx)
    const id = await makeSession(place)
    const { page } = await visit(ctx, `${place.url}/#/sessions/${id}`)
    await say(page, 'fail: 401')
    await answers(page).getByText('status 401').waitFor()
    await page.getByText('Turn 1 failed.').waitFor()
    await page.locator('.sidebar .chip.failed').waitFor()
    await say(page, 'fail: 500')
    const notice = page.locator('.notice')
    await notice.getByText(/the fault is on its side \(status 500.*Next try at \d\d:/).waitFor()
    await button(page, 'Stop').click()
    await page.getByText('Turn 2 stopped.').waitFor()
    // The answer of turn 2 has no word: an empty bubble would say nothing.
    expect(await page.locator('.is-assistant:visible').count()).toBe(1)
    await say(page, 'fail: 429')
    await notice.getByText(/is limiting the requests.*\(status 429.*Next try at \d\d:/).waitFor()
    await button(page, 'Stop').click()
    await say(page, 'say Well again.')
    await answers(page).getByText('Well again.').waitFor()
    await page.getByText(/used [\d.k]+ in, \d+ out/).waitFor()
    // The trouble is over: the page says calmly what happened, and when.
    await page.goto(place.url)
    await page.locator('.verdict.well').getByText('Everything is well.').waitFor()
    const past =
      /^\d+ calls on model route .+ failed \(turn\), the last at .+; it answered at .+\.$/
    await page.locator('.verdict .past li').getByText(past).first().waitFor()
  })
})

describe('a token', { timeout: 120_000 }, () => {
  it('that may write in one session tries a failing model again, and is offered nothing that it may not do', async (ctx) => {
    const token = tokenFor('write', 'session:pump')
    const place = await open(ctx, { tokens: tokensOf(token) })
    await makeSession(place)
    const page = await signIn(ctx, place, token)
    await page.getByRole('link', { name: 'pump' }).first().click()
    await say(page, 'fail: 429')
    const tried = () => place.model.journal.requests
    const again = button(page, 'Try again now')
    await again.waitFor()
    const before = tried()
    await again.click()
    await expect.poll(tried, { timeout: 20_000 }).toBeGreaterThan(before)
    expect(await page.getByRole('alert').count()).toBe(0)
    await button(page, 'Stop').click()
    await say(page, 'say Well again.')
    await answers(page).getByText('Well again.').waitFor()
    await page.getByRole('link', { name: 'What it saw' }).first().waitFor()
    for (const name of ['New session', 'Go back to here']) {
      expect(await button(page, name).count(), name).toBe(0)
    }
    expect(await page.getByRole('link', { name: 'Health' }).count()).toBe(0)
  })

  it('that may only read is offered nothing that writes', async (ctx) => {
    const token = tokenFor('read')
    const place = await open(ctx, { tokens: tokensOf(token) })
    await makeSession(place)
    await place.ask('pump', 'say Well.')
    const page = await signIn(ctx, place, token)
    await page.getByRole('link', { name: 'Health' }).waitFor()
    expect(await button(page, 'New session').count()).toBe(0)
    await page.goto(`${place.url}/#/sessions/pump`)
    await answers(page).getByText('Well.').waitFor()
    await page.getByText('This token can only read.').waitFor()
    await button(page, 'More').click()
    await button(page, 'Export…').waitFor()
    expect(await message(page).count()).toBe(0)
    for (const name of ['Send', 'Stop', 'Delete…', 'Rename…', 'Go back to here']) {
      expect(await button(page, name).count(), name).toBe(0)
    }
  })
})
