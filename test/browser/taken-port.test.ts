import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, type TestContext } from 'vitest'
import { openSqliteStore } from '../../packages/core/src/store/sqlite/open.ts'
import { openEntry } from '../../packages/server/src/cli/commands/page/entry.ts'
import { tokenFor, tokensOf } from '../product/http-place.ts'
import { answers, makeSession, message, say } from './hands.ts'
import type { Place } from './place.ts'
import { openStage } from './stage.ts'

/** While the server is down, another user of the machine listens on its port and hears an open page. */
const { open, visit } = openStage()
const token = tokenFor('write')

interface Listener {
  /** Everything that the page sent: lines, headers and bodies. */
  readonly heard: string[]
  readonly close: () => Promise<void>
}

async function listenAt(
  ctx: TestContext,
  port: number,
  answer: RequestListener,
  host = '127.0.0.1',
) {
  const heard: string[] = []
  const server: Server = createServer((request, response) => {
    const { method, url, rawHeaders } = request
    heard.push(`${method} ${url} ${rawHeaders.join(' ')}`)
    request.on('data', (data) => heard.push(`${data}`))
    answer(request, response)
  })
  await once(server.listen(port, host), 'listening')
  const close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  ctx.onTestFinished(close)
  return { heard, close } satisfies Listener
}

/** The same store and token, in a process that ends and one that follows. */
async function openTwice(ctx: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-port-'))
  ctx.onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const start = async (port = 0): Promise<Place> => {
    const store = await openSqliteStore({ path: join(folder, 'store.db') })
    return await open(ctx, { store, port, tokens: tokensOf(token) })
  }
  const place = await start()
  await makeSession(place)
  const { page } = await visit(ctx, place.url)
  const sent: string[] = []
  page.on('request', (request) => sent.push(request.headers()['authorization'] ?? ''))
  await page.getByLabel('Token').fill(token.text)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: 'pump' }).first().click()
  await message(page).waitFor()
  const port = Number(new URL(place.url).port)
  return { page, sent, port, url: place.url, place, restart: () => start(port) }
}

const PRIVATE = /tl_|tlp_|Bearer|secret words/i

describe('who listens on the port while the server is down', { timeout: 120_000 }, () => {
  it('gets neither the token nor a message, and the page goes on with the server by itself', async (ctx) => {
    const { page, sent, port, url, place, restart } = await openTwice(ctx)
    await place.close()
    await page.getByText('Connection lost').waitFor()
    const other = await listenAt(ctx, port, (_, response) => response.writeHead(503).end())
    await say(page, 'say My secret words.')
    await expect.poll(() => other.heard.length, { timeout: 20_000 }).toBeGreaterThan(3)
    expect(other.heard.filter((line) => PRIVATE.test(line))).toEqual([])
    await other.close()
    await restart()
    await answers(page).getByText('My secret words.').waitFor()
    // What the page had sent before ended with that process, and never was the token.
    expect(sent.join()).not.toContain(token.text)
    const [pass = ''] = sent.filter((each) => each !== '')
    expect(pass).toMatch(/^Bearer tlp_/)
    const again = await fetch(`${url}/v1/agents`, { headers: { authorization: pass } })
    expect(again.status).toBe(401)
  })

  it('gets nothing with a false proof either, and does not load its own page unasked', async (ctx) => {
    const { page, port, place, restart } = await openTwice(ctx)
    await place.close()
    await page.getByText('Connection lost').waitFor()
    const zero = Buffer.alloc(32)
    const proof = { run: zero.toString('base64url', 0, 16), proof: zero.toString('base64url') }
    const other = await listenAt(ctx, port, (request, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(request.url?.startsWith('/v1/proof') ? proof : { agents: [] }))
    })
    await page.getByRole('button', { name: 'Go on without one' }).waitFor()
    await page.getByLabel('Token').fill(token.text)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('The server does not accept this token. It was not sent.').waitFor()
    expect(other.heard.filter((line) => PRIVATE.test(line))).toEqual([])
    expect(other.heard.filter((line) => line.startsWith('GET / '))).toEqual([])
    await other.close()
    await restart()
    await page.getByLabel('Token').fill(token.text)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await say(page, 'say Back.')
    await answers(page).getByText('Back.').waitFor()
  })

  it('leaves nothing in the browser that stands between `page` and the real one', async (ctx) => {
    const clearingPath = '/clearing'
    const place = await open(ctx)
    const port = Number(new URL(place.url).port)
    await place.close()
    const script = `addEventListener('fetch', (event) => {
      const type = { headers: { 'content-type': 'text/html' } }
      if (event.request.mode === 'navigate')
        event.respondWith(new Response('<h1>Kept</h1>', type))
    })`
    // The browser does not ask for a newer script for a day, and keeps the page for a year.
    const html = `<h1>Kept</h1><script>
      navigator.serviceWorker.register('/sw.js', { updateViaCache: 'all' })
      navigator.serviceWorker.ready.then(() => document.write('Registered'))</script>`
    const other = await listenAt(ctx, port, ({ url }, response) => {
      const isScript = url === '/sw.js'
      response.setHeader('cache-control', 'public, max-age=31536000, immutable')
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
      response.end(isScript ? script : html)
    })
    const { page } = await visit(ctx, place.url)
    await page.getByText('Registered').waitFor()
    await other.close()
    await open(ctx, { port, clearingPath })
    const later = await page.context().newPage()
    await later.goto(place.url)
    await later.getByText('Kept').waitFor()
    const entry = await openEntry({ url: place.url, clearing: clearingPath })
    ctx.onTestFinished(() => entry.close())
    await later.goto(entry.url)
    await later.getByText('Live', { exact: true }).waitFor()
    expect(later.url()).toMatch(`${place.url}/`)
    await entry.used
    await page.goto(place.url)
    await page.getByText('Live', { exact: true }).waitFor()
    const guessed = await fetch(`${place.url}/clear`, { headers: { origin: 'http://a.example' } })
    expect([guessed.status, guessed.headers.get('clear-site-data')]).toEqual([403, null])
  })

  it('leaves a script in the browser that goes when the browser looks for a newer one', async (ctx) => {
    const place = await open(ctx)
    const port = Number(new URL(place.url).port)
    await place.close()
    const script = `addEventListener('fetch', (event) => {
      const type = { headers: { 'content-type': 'text/html' } }
      if (event.request.mode === 'navigate')
        event.respondWith(new Response('<h1>Kept</h1>', type))
    })`
    const html = `<script>navigator.serviceWorker.register('/sw.js')</script>
      <script>navigator.serviceWorker.ready.then(() => document.write('Registered'))</script>`
    const other = await listenAt(ctx, port, ({ url }, response) => {
      const isScript = url === '/sw.js'
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
      response.end(isScript ? script : html)
    })
    const { page } = await visit(ctx, place.url)
    await page.getByText('Registered').waitFor()
    await other.close()
    await open(ctx, { port })
    await page.goto(place.url)
    await page.getByText('Kept').waitFor()
    // The browser looks a second after the page was loaded.
    const kept = () =>
      page.evaluate('navigator.serviceWorker.getRegistrations().then(({ length }) => length)')
    await expect.poll(kept, { timeout: 20_000 }).toBe(0)
    await page.goto(place.url)
    await page.getByText('Live', { exact: true }).waitFor()
  })
})

describe('who listens on the port while the server is up', { timeout: 120_000 }, () => {
  it('cannot do so at [::1], from where a page would reach the server under its own name', async (ctx) => {
    const place = await open(ctx)
    await makeSession(place)
    const port = Number(new URL(place.url).port)
    const html = `<h1>Other</h1><script>
      setTimeout(async () => document.write((await fetch('/v1/sessions')).status), 500)</script>`
    const taken = await listenAt(
      ctx,
      port,
      (_, response) => {
        response.writeHead(200, { 'content-type': 'text/html', connection: 'close' }).end(html)
        void other?.close()
      },
      '::1',
    ).catch((error: NodeJS.ErrnoException) => error)
    const other = 'heard' in taken ? taken : null
    const { page } = await visit(ctx, `http://localhost:${port}`)
    // Beside a server at 127.0.0.1 alone, this page reads the sessions from there.
    const shown = page.getByText(/^200$|^Live$/)
    await shown.first().waitFor()
    expect(await shown.allInnerTexts()).toEqual(['Live'])
    expect(taken).toMatchObject({ code: 'EADDRINUSE' })
  })
})
