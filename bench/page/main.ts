import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { Browser, Page } from 'playwright-core'
import { sessionId } from '../../packages/core/src/base/ids.ts'
import { openMemoryStore } from '../../packages/core/src/store/memory/open.ts'
import { launchBrowser } from '../../test/browser/browser.ts'
import { buildPage } from '../../test/browser/built-page.ts'
import { openPlace, type Place } from '../../test/browser/place.ts'
import { LongSession } from '../store/compactions.ts'
import { NOTE_PIXELS, scrollThrough } from './in-page.ts'

/**
 * `npm run bench:page`: what the page weighs, how it bears 10,000 sessions and a conversation of
 * 100,000 messages, how long an event takes to the screen, and what open pages cost the server.
 */
const SESSIONS = 10_000
const MESSAGES = 100_000
const SCROLL_MS = 4_000
const PAGES = 100
const REST_MS = 8_000
/** What Linux counts processor time in. */
const TICK_MS = 10
/**
 * A second after a page was opened, the browser lets go of the blank one that stood there before, and
 * without a graphics card it stands still for a second and a half meanwhile (seen in its own trace).
 */
const SETTLE_MS = 4_000

const checks: { name: string; value: string; isMet: boolean }[] = []
const check = (name: string, value: string, isMet: boolean) => checks.push({ name, value, isMet })

const built = await buildPage()
weigh(built.folder)
const launched = await launchBrowser(['--enable-precise-memory-info'])
if ('browser' in launched) {
  const { browser } = launched
  await measurePages(browser)
  await browser.close()
} else console.log(launched.reason)
await measureRest()
built.remove()
for (const { name, value, isMet } of checks) {
  console.log(`${isMet ? 'met    ' : 'MISSED '} ${name.padEnd(44)} ${value}`)
}
process.exitCode = checks.every(({ isMet }) => isMet) ? 0 : 1

function weigh(folder: string): void {
  const files = globSync('**/*.{html,js,css,svg}', { cwd: folder })
  const bytes = files.reduce(
    (sum, file) => sum + gzipSync(readFileSync(join(folder, file)), { level: 9 }).length,
    0,
  )
  check('bundle, gzip (<= 90 KB)', `${(bytes / 1024).toFixed(1)} KB`, bytes <= 90 * 1024)
}

async function measurePages(browser: Browser): Promise<void> {
  const store = openMemoryStore()
  const model = { speed: { outputTokensPerSecond: 60 } }
  const place = await openPlace({ folder: built.folder, store, model })
  try {
    for (let number = 0; number < SESSIONS; number++) {
      await place.runtime.createSession({ agent: 'main', id: `s-${number}` })
    }
    const page = await newPage(browser, place.url)
    const words = `${SESSIONS.toLocaleString('en')} sessions`
    await page.locator('.list-note').getByText(words, { exact: true }).waitFor()
    await judge(page, 'list of 10,000 sessions', '.list')
    await page.context().close()

    await place.runtime.createSession({ agent: 'main', id: 'long' })
    const long = await LongSession.open(store, sessionId('long'))
    await long.growTo(MESSAGES)
    const reader = await newPage(browser, `${place.url}/#/sessions/long`)
    await reader.locator('[data-entry]').last().waitFor()
    await judge(reader, `conversation of ${MESSAGES.toLocaleString('en')} messages`, '.transcript')
    await reader.context().close()

    await measureEvents(browser, place)
  } finally {
    await place.close()
  }
}

async function newPage(browser: Browser, url: string): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    locale: 'en-GB',
  })
  const page = await context.newPage()
  page.setDefaultTimeout(120_000)
  await page.goto(url)
  return page
}

async function judge(page: Page, name: string, box: string): Promise<void> {
  await sleep(SETTLE_MS)
  const { frames, ms } = (await page.evaluate(scrollThrough(box, SCROLL_MS))) as {
    frames: number
    ms: number
  }
  const rate = (frames / ms) * 1_000
  check(`${name}: frames/s (>= 50)`, rate.toFixed(1), rate >= 50)
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  const [heap, process] = [usedSize / 2 ** 20, await rendererMegabytes(page)]
  const value = `${process.toFixed(0)} MB, heap ${heap.toFixed(1)} MB`
  check(`${name}: memory (< 200 MB)`, value, process < 200)
}

/** What the largest of the browser's page processes holds for itself; NaN if it is unknown. */
async function rendererMegabytes(page: Page): Promise<number> {
  const session = await page.context().browser()?.newBrowserCDPSession()
  const { processInfo = [] } = (await session?.send('SystemInfo.getProcessInfo')) ?? {}
  const sizes = processInfo
    .filter(({ type }) => type === 'renderer')
    .map(({ id }) => {
      const text = readFileSync(`/proc/${id}/smaps_rollup`, 'utf8')
      return Number(/^Pss: +(\d+) kB$/m.exec(text)?.[1]) / 1024
    })
  return Math.max(...sizes)
}

/** From the moment the runtime tells a piece of text to the frame behind the one that shows it. */
async function measureEvents(browser: Browser, place: Place): Promise<void> {
  const id = 's-1'
  const page = await newPage(browser, `${place.url}/#/sessions/${id}`)
  await page.getByText('No messages yet').waitFor()
  await page.evaluate(NOTE_PIXELS)
  const told: { length: number; at: number }[] = []
  const stop = new AbortController()
  const following = (async () => {
    let text = ''
    for await (const event of place.runtime.session(sessionId(id)).events({}, stop.signal)) {
      if (event.type !== 'live' || event.kind !== 'delta') continue
      text += event.text
      // Markdown does not show a space at the end.
      told.push({ length: text.trimEnd().length, at: Date.now() })
    }
  })()
  const words = Array.from({ length: 300 }, (_, index) => `word${index}`).join(' ')
  await place.ask(id, `say ${words}`)
  await sleep(300)
  stop.abort()
  await following
  const pixels = (await page.evaluate('pixels')) as { length: number; at: number }[]
  const delays = told
    .flatMap(({ length, at }) => {
      const shown = pixels.find((each) => each.length >= length)
      return shown === undefined ? [] : [shown.at - at]
    })
    .sort((a, b) => a - b)
  const p95 = delays[Math.floor(delays.length * 0.95)] ?? Number.NaN
  check('event to pixel, p95 (<= 100 ms)', `${p95} ms of ${delays.length} events`, p95 <= 100)
  await page.context().close()
}

/** A page at rest is one stream of events and asks for nothing, so streams stand for pages here. */
async function measureRest(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'throughline-rest-'))
  const file = join(import.meta.dirname, '../../test/browser/children/serve.ts')
  const args = [file, join(home, 'store.db'), built.folder, '0']
  const child: ChildProcess = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(child.stdout ?? process.stdin, 'data')) as [Buffer]
  const url = line.toString().trim()
  const stop = new AbortController()
  const open = async () => {
    const response = await fetch(`${url}/v1/events`, { signal: stop.signal })
    void response.text().catch(() => {})
  }
  await Promise.all(Array.from({ length: PAGES }, open))
  await sleep(2_000)
  const before = cpuMs(child.pid)
  await sleep(REST_MS)
  const share = ((cpuMs(child.pid) - before) / REST_MS) * 100
  check(`${PAGES} open pages at rest (< 10% of a core)`, `${share.toFixed(1)}%`, share < 10)
  stop.abort()
  child.kill('SIGKILL')
  await once(child, 'exit')
  rmSync(home, { recursive: true, force: true })
}

/** NaN where the system does not tell: then nothing is claimed. */
function cpuMs(pid: number | undefined): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS
  } catch {
    return Number.NaN
  }
}
