import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { sessionId } from '../../packages/core/src/base/ids.ts'
import { answers, makeSession, message } from './hands.ts'
import type { Place } from './place.ts'
import { openStage, seriousFindings } from './stage.ts'

/** Renaming, exporting and deleting a session, and text that is erased while a page shows it. */
const { open, visit } = openStage()
const SECRET = 'The code of the safe is 4711.'
const model = { script: () => ({ text: `Understood. ${SECRET}` }) }

async function makeTold(place: Place, id = 'two'): Promise<string> {
  await makeSession(place, id)
  await place.ask(id, `Remember this. ${SECRET}`)
  return id
}

async function openPanel(page: Page, name: 'Rename' | 'Export' | 'Delete') {
  await page.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('button', { name: `${name}…` }).click()
  return page.getByRole(name === 'Rename' ? 'form' : 'region', { name })
}

const textOf = (page: Page) => page.innerText('body')

describe('a session that is open on the page', { timeout: 120_000 }, () => {
  it('leaves the screen as soon as it is deleted elsewhere, with all its text', async (ctx) => {
    const place = await open(ctx, { model })
    const id = await makeTold(place)
    const { page, problems } = await visit(ctx, `${place.url}/#/sessions/${id}`)
    await answers(page).getByText('4711').waitFor()
    await page.getByRole('searchbox').fill('safe')
    await page.keyboard.press('Enter')
    await page.locator('.found').first().waitFor()
    // Only the event tells: nothing about the session can be read again.
    await page.route(`**/v1/sessions/${id}**`, () => {})
    await place.runtime.session(sessionId(id)).purge({ entries: 'all', reason: 'test' })
    await page.getByText(`Session ${id} is deleted.`).waitFor()
    expect(await textOf(page)).not.toContain('4711')
    expect(await message(page).count()).toBe(0)
    expect(await page.getByRole('link', { name: 'What it saw' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Go back to here' }).count()).toBe(0)
    expect(await page.locator('.found').count()).toBe(0)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.reload()
    await page.getByText(`Session ${id} is deleted.`).waitFor()
    expect(await textOf(page)).not.toContain('main is')
    expect(problems).toEqual([])
  })

  it('says that its client continues without it, and how full the window is there', async (ctx) => {
    const at = Date.now() + 60_000
    const place = await open(ctx, { model, leftOf: () => ({ at, tokens: 30_000 }) })
    const id = await makeTold(place)
    const { page, problems } = await visit(ctx, `${place.url}/#/sessions/${id}`)
    await page.getByText('left: its client goes on from the handoff in its own log').waitFor()
    await page.getByText('30.0k of 200k tokens (15%)').waitFor()
    expect(await page.locator('.list .row .chip').textContent()).toBe('left')
    await page.getByRole('link', { name: 'Context', exact: true }).click()
    const note = page.getByText('Below is the context from before.')
    expect(await note.textContent()).toContain('with about 30.0k of 200k tokens')
    // It is over, so it is neither running nor a concern.
    await page.goto(place.url)
    await page.getByText('No session is running.').waitFor()
    expect(await page.getByText('session failed').count()).toBe(0)
    expect(problems).toEqual([])
  })

  it('is gone after a reconnection when it was deleted meanwhile', async (ctx) => {
    const place = await open(ctx, { model })
    const id = await makeTold(place)
    const { page } = await visit(ctx, `${place.url}/#/sessions/${id}/context`)
    await page.locator('.part').first().waitFor()
    await page.route('**/v1/events', (route) => route.abort())
    await page.evaluate(`dispatchEvent(new Event('online'))`)
    await page.getByText('Connection lost').waitFor()
    await place.runtime.session(sessionId(id)).purge({ entries: 'all', reason: 'test' })
    await page.unroute('**/v1/events')
    await page.getByText(`Session ${id} is deleted.`).waitFor()
    expect(await page.locator('.part').count()).toBe(0)
  })

  it('loses single entries as soon as they are erased, also from its context', async (ctx) => {
    const place = await open(ctx, { model })
    const id = await makeTold(place)
    const session = place.runtime.session(sessionId(id))
    const { page, problems } = await visit(ctx, `${place.url}/#/sessions/${id}`)
    await answers(page).getByText('4711').waitFor()
    const entries = (await session.transcript({ from: 1, to: 20 })) ?? []
    const told = entries.filter(({ kind }) => kind === 'input' || kind === 'assistant')
    const at = told.at(-1)?.number
    const beside = await visit(ctx, `${place.url}/#/sessions/${id}/context?at=${at}`)
    await beside.page.locator('.part-text').getByText('4711').waitFor()
    await page.route(`**/v1/sessions/${id}/transcript**`, () => {})
    await beside.page.route(`**/v1/sessions/${id}/context**`, () => {})
    await session.purge({ entries: told.map(({ number }) => number), reason: 'test' })
    await page.getByText('This message was erased.').nth(1).waitFor()
    expect(await page.locator('.transcript').innerText()).not.toContain('4711')
    await beside.page.locator('.part-text').first().waitFor({ state: 'detached' })
    expect(problems).toEqual([])
  })

  it('can be renamed', async (ctx) => {
    const place = await open(ctx, { model })
    const id = await makeTold(place)
    const { page, problems } = await visit(ctx, `${place.url}/#/sessions/${id}`)
    const panel = await openPanel(page, 'Rename')
    await panel.getByLabel('Title').fill('  The safe  ')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'The safe', exact: true }).waitFor()
    await page.locator('.row-title').getByText('The safe', { exact: true }).waitFor()
    await panel.waitFor({ state: 'detached' })
    expect((await place.runtime.session(sessionId(id)).summary())?.title).toBe('The safe')
    expect(problems).toEqual([])
  })

  it('keeps its buttons when the page receives its permissions', async (ctx) => {
    const place = await open(ctx, { model })
    const id = await makeTold(place)
    const { page } = await visit(ctx, `${place.url}/#/sessions/${id}`)
    let letGo = () => {}
    const known = new Promise<void>((resolve) => {
      letGo = resolve
    })
    await page.route('**/v1/access', (route) => void known.then(() => route.continue()))
    await page.reload()
    const more = await page.getByRole('button', { name: 'More', exact: true }).elementHandle()
    expect(await page.getByText('This token can only read.').count()).toBe(0)
    letGo()
    await page.getByRole('textbox', { name: 'Message' }).waitFor()
    expect(await more?.innerText()).toContain('More')
  })

  it('can be exported in every form', async (ctx) => {
    const place = await open(ctx, { model })
    const id = await makeTold(place)
    const { page, problems } = await visit(ctx, `${place.url}/#/sessions/${id}`)
    const panel = await openPanel(page, 'Export')
    const forms = {
      ...{ Markdown: 'md', HTML: 'html', 'JSON lines': 'jsonl', Codex: 'codex.jsonl' },
      ...{ 'Claude Code': 'claude-code.jsonl', 'OpenAI chat': 'openai-chat.json' },
    }
    for (const [name, extension] of Object.entries(forms)) {
      const begun = page.waitForEvent('download')
      await panel.getByRole('button', { name, exact: true }).click()
      const saved = await begun
      expect(saved.suggestedFilename()).toBe(`${id}.${extension}`)
      expect(readFileSync(await saved.path(), 'utf8')).toContain(SECRET)
    }
    expect(problems).toEqual([])
  })

  it('is deleted only after a confirmation that names it', async (ctx) => {
    const place = await open(ctx, { model })
    const id = await makeTold(place)
    const session = place.runtime.session(sessionId(id))
    const { page, problems } = await visit(ctx, `${place.url}/#/sessions/${id}`)
    const panel = await openPanel(page, 'Delete')
    await panel.getByText(`Delete session ${id}`).waitFor()
    const { entries } = (await session.summary()) ?? {}
    await panel.getByText(`The text of its ${entries} entries is erased`).waitFor()
    expect(await seriousFindings(page, 'delete')).toEqual([])
    await page.keyboard.press('Enter')
    await panel.waitFor({ state: 'detached' })
    expect((await session.summary())?.state).toBe('idle')
    await (await openPanel(page, 'Delete')).getByRole('button', { name: `Delete ${id}` }).click()
    await page.getByText(`Session ${id} is deleted.`).waitFor()
    expect((await session.summary())?.state).toBe('gone')
    expect(await textOf(page)).not.toContain('4711')
    expect(await seriousFindings(page, 'deleted')).toEqual([])
    expect(problems).toEqual([])
  })

  it('that forks read is not deleted, and the page names them and what helps', async (ctx) => {
    const place = await open(ctx, { model })
    const id = await makeTold(place)
    const session = place.runtime.session(sessionId(id))
    const { entries: at = 0 } = (await session.summary()) ?? {}
    await session.fork({ at, id: 'side', source: 'test', key: 'fork' })
    await place.runtime.session(sessionId('side')).rename('Another way')
    const { page } = await visit(ctx, `${place.url}/#/sessions/${id}`)
    const panel = await openPanel(page, 'Delete')
    await panel.getByRole('button', { name: `Delete ${id}` }).click()
    await panel.getByText('It was not deleted: a fork reads its messages.').waitFor()
    await panel.getByText(`throughline purge ${id} --forks keep`).waitFor()
    expect(await seriousFindings(page, 'forks')).toEqual([])
    await panel.getByRole('link', { name: 'Another way' }).click()
    await page.getByRole('heading', { name: 'Another way', exact: true }).waitFor()
    expect((await session.summary())?.state).toBe('idle')
  })

  it('leaves the list when it is deleted, unless deleted ones are asked for', async (ctx) => {
    const place = await open(ctx, { model })
    const id = await makeTold(place)
    await makeSession(place, 'three')
    const { page, problems } = await visit(ctx, place.url)
    const list = page.getByRole('navigation', { name: 'Sessions' })
    await list.getByText('2 sessions').waitFor()
    await place.runtime.session(sessionId(id)).purge({ entries: 'all', reason: 'test' })
    await list.getByText('1 session', { exact: true }).waitFor()
    expect(await list.locator('.row-title').allInnerTexts()).toEqual(['three'])
    await list.getByLabel('State').selectOption('Deleted')
    await list.locator('.row-title').getByText(id, { exact: true }).waitFor()
    expect(await list.locator('.row-title').count()).toBe(1)
    expect(problems).toEqual([])
  })

  it('has all its tabs on a screen of 360 pixels', async (ctx) => {
    const place = await open(ctx, { model })
    const id = await makeTold(place)
    const viewport = { width: 360, height: 700 }
    const { page } = await visit(ctx, `${place.url}/#/sessions/${id}`, { viewport })
    for (const tab of await page.locator('.tabs a').all()) {
      const { x = 0, width = 0 } = (await tab.boundingBox()) ?? {}
      expect(x + width).toBeLessThanOrEqual(360)
    }
    expect(await page.locator('.tabs a').count()).toBe(4)
  })
})
