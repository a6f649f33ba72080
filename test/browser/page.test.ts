import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest'
import { launchBrowser } from './browser.ts'
import { buildPage } from './built-page.ts'
import { openPlace, type Place, type PlaceOptions, SUMMARIES } from './place.ts'

/** The page in a real browser, before the real product. */
let browser: Browser | null = null
let reason = ''
let folder = ''
let removePage = () => {}

beforeAll(async () => {
  const [launched, built] = await Promise.all([launchBrowser(), buildPage()])
  folder = built.folder
  removePage = built.remove
  if ('browser' in launched) browser = launched.browser
  else reason = launched.reason
}, 60_000)

afterAll(async () => {
  await browser?.close()
  removePage()
})

interface Visit {
  readonly page: Page
  readonly problems: string[]
}

async function visit(
  ctx: TestContext,
  url: string,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<Visit> {
  if (browser === null) return ctx.skip(reason)
  const usual = { viewport: { width: 1280, height: 800 }, locale: 'en-GB' }
  const context = await browser.newContext({ ...usual, ...options })
  ctx.onTestFinished(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(10_000)
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(`${error}`))
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  await page.goto(url)
  return { page, problems }
}

async function open(ctx: TestContext, options: Omit<PlaceOptions, 'folder'> = {}): Promise<Place> {
  if (browser === null) return ctx.skip(reason)
  const place = await openPlace({ folder, ...options })
  ctx.onTestFinished(() => place.close())
  return place
}

const FILLER = 'The pump ran without a fault until the evening. '.repeat(150)
const noted = { script: ({ model }: { model: string }) => (model === SUMMARIES ? undefined : { text: 'Noted.' }) }

describe('the page', () => {
  it('leads from the first visit to the first answer', async (ctx) => {
    const place = await open(ctx)
    const { page, problems } = await visit(ctx, place.url)
    await page.getByRole('button', { name: 'New session' }).click()
    await page.getByLabel('Message').fill('say The river is **high** today.')
    await page.keyboard.press('Enter')
    const answer = page.locator('.is-assistant:not(.writing)')
    await answer.getByText('The river is').waitFor()
    expect(await answer.locator('strong').textContent()).toBe('high')
    await page.getByText('main is idle').waitFor()
    expect(await page.locator('.upcoming .entry').count()).toBe(0)
    expect(await page.getByLabel('Message').inputValue()).toBe('')
    expect(problems).toEqual([])
  })
})
