import chromium from '@sparticuz/chromium'
import { type Browser, chromium as playwright } from 'playwright-core'

/** A real browser, or why there is none. */
export type Launched = { readonly browser: Browser } | { readonly reason: string }

/** What makes a browser of a Lambda less of one: pages would not be kept from other origins. */
const UNWANTED = ['--disable-web-security', '--allow-running-insecure-content', '--single-process']

export async function launchBrowser(args: readonly string[] = []): Promise<Launched> {
  try {
    const executablePath = await chromium.executablePath()
    const usual = chromium.args.filter((arg) => !UNWANTED.includes(arg))
    const browser = await playwright.launch({ executablePath, args: [...usual, ...args] })
    return { browser }
  } catch (error) {
    const [line = ''] = String(error instanceof Error ? error.message : error).split('\n')
    return { reason: `not run: no browser can be started here (${line.slice(0, 200)})` }
  }
}
