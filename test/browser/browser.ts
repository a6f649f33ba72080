import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import chromium from '@sparticuz/chromium'
import { type Browser, chromium as playwright } from 'playwright-core'

/** A real browser, or why there is none. */
export type Launched = { readonly browser: Browser } | { readonly reason: string }

/** What makes a browser of a Lambda less of one: pages would not be kept from other origins. */
const UNWANTED = ['--disable-web-security', '--allow-running-insecure-content', '--single-process']

export async function launchBrowser(args: readonly string[] = []): Promise<Launched> {
  try {
    const executablePath = await unpack()
    const usual = chromium.args.filter((arg) => !UNWANTED.includes(arg))
    const browser = await playwright.launch({ executablePath, args: [...usual, ...args] })
    return { browser }
  } catch (error) {
    const [line = ''] = String(error instanceof Error ? error.message : error).split('\n')
    return { reason: `not run: no browser can be started here (${line.slice(0, 200)})` }
  }
}

const UNPACK_MS_MAX = 90_000

/**
 * Test files that run side by side share one copy: the first unpacks it, and the others wait until
 * it is whole. Half a browser cannot be started.
 */
async function unpack(): Promise<string> {
  const folder = join(tmpdir(), 'throughline-browser')
  const whole = join(folder, 'whole')
  const isFirst = mkdirSync(folder, { recursive: true }) !== undefined
  const deadline = performance.now() + UNPACK_MS_MAX
  // The first may have died over it.
  while (!isFirst && !existsSync(whole) && performance.now() < deadline) await sleep(50)
  const path = await chromium.executablePath()
  writeFileSync(whole, '')
  return path
}
