import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest'
import { sessionId } from '../../packages/core/src/base/ids.ts'
import { exportAs } from '../../packages/server/src/gateway/text/export-session.ts'
import { type Launched, launchBrowser } from './browser.ts'
import { makeSession } from './hands.ts'
import { HOSTILE } from './hostile.ts'
import { EVERY_WAY_IN } from './in-page.ts'
import { openPlace, type Place } from './place.ts'

/** A foreign page in the browser of the person who runs the server without tokens. */
const REBOUND = 'rebound.test'
const folder = mkdtempSync(join(tmpdir(), 'throughline-foreign-'))
let launched: Launched

beforeAll(async () => {
  launched = await launchBrowser([`--host-resolver-rules=MAP ${REBOUND} 127.0.0.1`])
}, 120_000)
afterAll(async () => {
  if ('browser' in launched) await launched.browser.close()
  rmSync(folder, { recursive: true, force: true })
})

async function newPage(context: TestContext): Promise<Page> {
  if ('reason' in launched) return context.skip(launched.reason)
  const browser: Browser = launched.browser
  const page = await browser.newPage()
  context.onTestFinished(() => page.close())
  return page
}

async function open(context: TestContext): Promise<Place> {
  const place = await openPlace({ folder: join(folder, 'no page') })
  context.onTestFinished(() => place.close())
  return place
}

async function hostilePort(context: TestContext): Promise<number> {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html')
    response.end('<!doctype html><title>evil</title><body></body>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  context.onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** Those of this test's own look at the figures left out. */
async function countRequests({ url }: Place, status: string): Promise<number> {
  const figures = await (await fetch(`${url}/metrics`)).text()
  const row = new RegExp(
    `^throughline_http_requests_total\\{.*status="${status}".*\\} (\\d+)$`,
    'gm',
  )
  const rows = [...figures.matchAll(row)].filter(([text]) => !text.includes('"/metrics"'))
  return rows.reduce((sum, [, times]) => sum + Number(times), 0)
}

describe('a page of another origin', { timeout: 120_000 }, () => {
  it('reads, writes and receives nothing, by any kind of request of a browser', async (context) => {
    const page = await newPage(context)
    const place = await open(context)
    const id = await makeSession(place, 'private')
    await place.ask(id, 'say The word is BASALT.')
    const state = async () => {
      const summary = await place.runtime.session(sessionId(id)).summary()
      return [summary?.state, summary?.entries, summary?.waiting]
    }
    const before = await state()
    const port = await hostilePort(context)
    // Another port of this host is the same site, and another name of it is not.
    for (const host of ['127.0.0.1', 'localhost', REBOUND]) {
      await page.goto(`http://${host}:${port}/`)
      const heard = await page.evaluate(`(${EVERY_WAY_IN})(${JSON.stringify(place.url)}, '${id}')`)
      expect(JSON.stringify(heard)).not.toContain('BASALT')
      expect(heard).toEqual(NOTHING_HEARD)
    }
    // All of it reached the server, and was refused there.
    const asked = 3 * Object.keys(NOTHING_HEARD).length
    await expect.poll(() => countRequests(place, '403')).toBeGreaterThanOrEqual(asked)
    expect(await countRequests(place, '2..')).toBe(0)
    expect(await state()).toEqual(before)
    expect(await place.runtime.listSessions({ limit: 10 })).toHaveLength(1)
  })

  it('gets nothing under a name that leads to this machine', async (context) => {
    const page = await newPage(context)
    const place = await open(context)
    await makeSession(place, 'private')
    const { port } = new URL(place.url)
    const answer = await page.goto(`http://${REBOUND}:${port}/v1/sessions`)
    expect(answer?.status()).toBe(421)
    expect(await page.content()).not.toContain('private')
    const heard = await page.evaluate(`fetch('/v1/sessions').catch(({ name }) => name)`)
    expect(heard).toBe('TypeError')
  })
})

const NOTHING_HEARD = {
  ...{ cors: 'TypeError', credentials: 'TypeError', json: 'TypeError', remove: 'TypeError' },
  ...{ blind: 'TypeError', beacon: 'sent', form: 'blocked', image: 'error', script: 'error' },
  ...{ style: 'error', frame: 'blocked', events: 'error', socket: 'error' },
}

describe('an exported page', { timeout: 120_000 }, () => {
  it('runs no script and loads nothing, for any message text', async (context) => {
    const page = await newPage(context)
    const place = await open(context)
    const id = await makeSession(place, 'private')
    const marks = HOSTILE.slice(0, 40)
    const images = [
      '![x](https://evil.example/a.png)',
      '[![x](//evil.example/b.png)](data:text/html,x)',
    ]
    await place.ask(id, [...marks, ...images].join('\n\n'))
    const session = place.runtime.session(sessionId(id))
    await session.rename('</title><script>window.pwned=1</script>')
    const summary = await session.summary()
    if (summary === undefined) throw new Error('The session is gone.')
    let html = ''
    for await (const piece of exportAs(session, summary, { form: 'html' })) html += piece
    const file = join(folder, 'private.html')
    writeFileSync(file, html)
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.goto(pathToFileURL(file).href)
    expect(await page.innerText('body')).toContain('<script>window.pwned=0</script>')
    expect(asked).toEqual([pathToFileURL(file).href])
    expect(await page.evaluate('window.pwned')).toBeUndefined()
    const made = await page.evaluate(`
      [...document.querySelectorAll('body script, img, iframe, object, embed, form, base, link')].length +
      [...document.querySelectorAll('a')].filter(({ href }) => !/^(https?|mailto):/.test(href)).length
    `)
    expect(made).toBe(0)
  })
})
