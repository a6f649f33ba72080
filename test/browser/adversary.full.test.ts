import { describe, expect, it } from 'vitest'
import { sessionId } from '../../packages/core/src/base/ids.ts'
import { freePort } from '../support/free-port.ts'
import { answers, foreignNodes, makeSession, say } from './hands.ts'
import { openServed } from './served.ts'
import { openStage } from './stage.ts'

/** Hostile or faulty input of people, models, networks and servers to the page. */
const stage = openStage()
const { open, visit } = stage

describe('the page against hostile input and a failing server', { timeout: 120_000 }, () => {
  it('is not held up by texts of nothing but marks, and shows all of them', async (ctx) => {
    const place = await open(ctx, {
      windowTokens: 1_000_000,
      model: { script: () => ({ text: 'ok' }) },
    })
    const id = await makeSession(place)
    // So few that all of them stand in the document at once.
    const marks = ['w\n\n# w\n', '`w` **w** http://w.w ', '```\nw\n```\n**`w']
    const times = (mark: string) => Math.floor(19_000 / mark.length)
    for (const mark of marks) await place.ask(id, mark.repeat(times(mark)))
    const { page, problems } = await visit(ctx, `${place.url}/#/sessions/${id}`)
    for (const [index, mark] of marks.entries()) {
      const said = page.locator('.is-input .said').nth(index)
      const words = (await said.textContent())?.split('w').length ?? 0
      expect(words - 1).toBe(times(mark) * (mark.split('w').length - 1))
      expect(await said.locator('*').count()).toBeLessThan(1_100)
    }
    expect(problems).toEqual([])
  })

  it('shows the end of an answer that is too long, while it is written', async (ctx) => {
    const text = Array.from({ length: 9_000 }, (_, index) => `word${index}`).join(' ')
    const place = await open(ctx, { model: { script: () => ({ text }) } })
    const id = await makeSession(place)
    place.model.faults.next('stall-mid-stream; after=0.5')
    const { page } = await visit(ctx, `${place.url}/#/sessions/${id}`)
    await say(page, 'Tell me all of it.')
    const said = page.locator('.writing .said')
    await said.getByText('word4000 ').waitFor()
    expect(await said.textContent()).not.toContain('word0 ')
    await said.getByRole('button', { name: /Show all/ }).click()
    await said.getByText('word0 ').waitFor()
  })

  it('keeps foreign words in their place, whichever way they want to be read', async (ctx) => {
    const place = await open(ctx)
    const id = await makeSession(place)
    const content = '\u202eeht si siht <script>window.pwned=1</script>'
    const tasks = { tasks: [{ content, status: 'pending' }] }
    await place.ask(id, `use tasks ${JSON.stringify(tasks)}\nthen\nsay Kept.`)
    const { page } = await visit(ctx, `${place.url}/#/sessions/${id}`)
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('button', { name: 'Tasks…' }).click()
    const task = page.locator('.task')
    const left = async (part: string) => (await task.locator(part).boundingBox())?.x ?? 0
    await task.waitFor()
    expect(await left('.task-mark')).toBeLessThan(await left('.task-text'))
    expect(await left('.task-text')).toBeLessThan(await left('.dim'))
    expect(await foreignNodes(page)).toEqual([])
  })

  it('starts over when the server comes back with another store', async (ctx) => {
    const port = await freePort()
    const first = await open(ctx, { port })
    await makeSession(first, 'before')
    const { page } = await visit(ctx, first.url)
    const rows = page.locator('.list .row')
    await rows.getByText('before').waitFor()
    await first.close()
    await page.getByText('Connection lost').waitFor()
    const second = await open(ctx, { port })
    await makeSession(second, 'behind')
    // Until it has begun anew, it may show the new one beside the old.
    await expect.poll(() => rows.allTextContents()).toEqual([expect.stringContaining('behind')])
  })

  it('reads what it missed when the connection is back', async (ctx) => {
    const place = await open(ctx)
    const id = await makeSession(place)
    for (let turn = 1; turn <= 20; turn++) await place.ask(id, `say This is turn ${turn}.`)
    const { page } = await visit(ctx, `${place.url}/#/sessions/${id}`)
    await answers(page).getByText('This is turn 20.').waitFor()
    // Whoever stands at the end is kept there while the rest of it comes.
    await page.locator('.page:empty').first().waitFor({ state: 'detached' })
    await page.context().setOffline(true)
    await page.locator('.transcript').evaluate((element) => {
      element.scrollTop = 0
    })
    await page.getByText('Cannot reach the server').waitFor()
    await page.context().setOffline(false)
    await answers(page).getByText('This is turn 1.').waitFor()
    await page.getByText('Cannot reach the server').waitFor({ state: 'detached' })
  })

  it('keeps what it learned of a session since it asked for the list', async (ctx) => {
    const place = await open(ctx)
    const id = await makeSession(place)
    const { page } = await visit(ctx, 'about:blank')
    const [read, told] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await page.route('**/v1/sessions?limit=*', async (route) => {
      const response = await route.fetch()
      read.resolve()
      await told.promise
      await route.fulfill({ response })
    })
    await page.goto(place.url)
    await read.promise
    place.model.faults.next('stall-mid-stream; after=0.5')
    const parts = [{ type: 'text' as const, text: 'say A story without an end.' }]
    await place.runtime.session(sessionId(id)).admit({ source: 'test', key: 'long', parts })
    const chip = page.locator('.list .row .chip')
    await expect.poll(() => chip.allTextContents()).toEqual(['turn'])
    told.resolve()
    await page.getByText('1 session', { exact: true }).waitFor()
    expect(await chip.allTextContents()).toEqual(['turn'])
  })

  it('shows by the clock of the server how long ago something was', async (ctx) => {
    const place = await open(ctx)
    const id = await makeSession(place)
    await place.ask(id, 'say Just now.')
    const { page } = await visit(ctx, 'about:blank')
    await page.addInitScript('{ const now = Date.now; Date.now = () => now() + 3 * 3_600_000 }')
    await page.goto(place.url)
    await page.locator('.row', { hasText: /now|\d s ago/ }).waitFor()
    expect(await page.getByText(/ h ago/).count()).toBe(0)
  })

  it('goes on after a reload and after the server was killed, without a second reload', async (ctx) => {
    const served = await openServed(ctx, stage.folder(ctx))
    // So slow that it still answers when the page is there again.
    await served.start(4)
    const { page } = await visit(ctx, served.url)
    await page.getByRole('button', { name: 'New session' }).click()
    const words = Array.from({ length: 40 }, (_, index) => `word${index}`).join(' ')
    await say(page, `say ${words}`)
    await page.locator('.writing').getByText('word2').waitFor()
    await page.reload()
    await page.getByText('working on turn 1').waitFor()
    await served.stop('SIGKILL')
    await page.getByText('Connection lost').waitFor()
    await say(page, 'say Sent while nobody listened.')
    await page.getByText('kept in this tab').waitFor()
    await served.start(40)
    await page.getByText('Live', { exact: true }).waitFor()
    await answers(page).getByText('Sent while nobody listened.').waitFor({ timeout: 25_000 })
    await expect.poll(() => page.locator('.upcoming .entry').count()).toBe(0)
    for (const text of ['word39', 'Sent while nobody listened.']) {
      expect(await page.locator('.is-input', { hasText: text }).count()).toBe(1)
    }
  })
})
