import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'
import { beforeAll, type TestContext } from 'vitest'
import { clip } from '../../packages/core/src/base/line.ts'
import { launchBrowser } from './browser.ts'
import { buildPage } from './built-page.ts'
import { openPlace, type Place, type PlaceOptions } from './place.ts'

/** A browser and the built page for all tests of a process; tests say "not run" where there is none. */
export interface Stage {
  /** Where the built page is; skips the test where there is no browser. */
  folder(ctx: TestContext): string
  open(ctx: TestContext, options?: Omit<PlaceOptions, 'folder'>): Promise<Place>
  visit(
    ctx: TestContext,
    url: string,
    options?: Parameters<Browser['newContext']>[0],
  ): Promise<{ readonly page: Page; readonly problems: string[] }>
}

const PATIENCE_MS = 20_000

/** The browser ends with the process, and the page goes with the run's temporary files. */
let prepared: ReturnType<typeof prepare> | undefined

function prepare() {
  // Emulating a graphics processor takes a fifth of the processor time, and these tests need none.
  return Promise.all([launchBrowser(['--disable-gpu']), buildPage()])
}

export function openStage(): Stage {
  let browser: Browser | null = null
  let reason = ''
  let folder = ''
  beforeAll(async () => {
    prepared ??= prepare()
    const [launched, built] = await prepared
    folder = built.folder
    if ('browser' in launched) browser = launched.browser
    else reason = launched.reason
  }, 120_000)
  return {
    folder: (ctx) => (browser === null ? ctx.skip(reason) : folder),
    async open(ctx, options = {}) {
      if (browser === null) return ctx.skip(reason)
      const place = await openPlace({ folder, ...options })
      ctx.onTestFinished(() => place.close())
      return place
    },
    async visit(ctx, url, options = {}) {
      if (browser === null) return ctx.skip(reason)
      const usual = { viewport: { width: 1280, height: 800 }, locale: 'en-GB' }
      const context = await browser.newContext({ ...usual, ...options })
      const page = await context.newPage()
      ctx.onTestFinished(async () => {
        if (ctx.task.result?.state === 'fail')
          console.log(
            `${ctx.task.name}: the page showed\n${clip(await page.innerText('body'), 2_000)}`,
          )
        // Some still hold an answer back; the request it was for ends with the page.
        await page.unrouteAll({ behavior: 'ignoreErrors' })
        await context.close()
      })
      page.setDefaultTimeout(PATIENCE_MS)
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
    },
  }
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Finding {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

/** What axe-core finds serious or critical in what is on the screen. */
export async function seriousFindings(
  page: Page,
  view: string,
  options: object = {},
): Promise<unknown[]> {
  // By the debugger's way in: the page's own policy would refuse a script from elsewhere.
  await page.evaluate(AXE)
  const { violations } = (await page.evaluate(`axe.run(${JSON.stringify(options)})`)) as {
    violations: Finding[]
  }
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => ({
      ...{ view, id },
      nodes: nodes.slice(0, 3).map((node) => `${node.html.slice(0, 150)} ${node.failureSummary}`),
    }))
}
