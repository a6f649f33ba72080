import { describe, expect, it } from 'vitest'
import { answers, say } from './hands.ts'
import { openServed, type Served } from './served.ts'
import { openStage } from './stage.ts'

/** What becomes of words that are written while the server is away. */
const stage = openStage()
const SPEED = 400

async function read<Answer>(served: Served, path: string): Promise<Answer> {
  return (await (await fetch(`${served.url}${path}`)).json()) as Answer
}

async function sessionIds(served: Served): Promise<readonly string[]> {
  const { sessions } = await read<{ sessions: { id: string }[] }>(served, '/v1/sessions')
  return sessions.map(({ id }) => id)
}

/** How many entries of that kind contain the text. */
async function countOf(served: Served, id: string, kind: string, text: string): Promise<number> {
  type Entries = { entries: { kind: string }[] }
  const { entries } = await read<Entries>(served, `/v1/sessions/${id}/transcript?limit=100`)
  return entries.filter((each) => each.kind === kind && JSON.stringify(each).includes(text)).length
}

describe('while the server is away', { timeout: 120_000 }, () => {
  it('keeps a message and sends it once, even if the tab shows another page by then', async (ctx) => {
    const served = await openServed(ctx, stage.folder(ctx))
    await served.start(SPEED)
    const { page } = await stage.visit(ctx, served.url)
    await page.getByRole('button', { name: 'New session' }).click()
    await say(page, 'say Before.')
    await answers(page).getByText('Before.').waitFor()
    await served.stop('SIGTERM')
    await page.getByText('Connection lost').waitFor()
    await say(page, 'say First.')
    await say(page, 'say Second.')
    await page.getByText('kept in this tab; sent when the server is back').first().waitFor()
    await page.getByRole('link', { name: 'Health' }).click()
    await served.start(SPEED)
    const [id = ''] = await sessionIds(served)
    await expect.poll(() => countOf(served, id, 'assistant', 'Second.')).toBe(1)
    await page.goBack()
    await answers(page).getByText('Second.').waitFor()
    await expect.poll(() => page.locator('.upcoming .entry').count()).toBe(0)
    for (const text of ['say First.', 'say Second.']) {
      expect(await countOf(served, id, 'input', text)).toBe(1)
      expect(await page.locator('.is-input', { hasText: text }).count()).toBe(1)
    }
  })

  it('keeps the first message and begins one session with it', async (ctx) => {
    const served = await openServed(ctx, stage.folder(ctx))
    await served.start(SPEED)
    const { page } = await stage.visit(ctx, served.url)
    await page.getByText('Live', { exact: true }).waitFor()
    const first = page.getByRole('textbox', { name: 'First message' })
    await first.waitFor()
    await served.stop('SIGTERM')
    await page.getByText('Connection lost').waitFor()
    await first.fill('say Hello.')
    await first.press('Enter')
    await page.getByRole('alert').getByText('The session starts when it is back.').waitFor()
    expect(await first.inputValue()).toBe('say Hello.')
    // The first answer after it is back never reaches the page.
    let made = 0
    await page.route('**/v1/sessions', async (route) => {
      if (route.request().method() !== 'POST') return await route.continue()
      const response = await route.fetch().catch(() => null)
      if (response === null) return await route.abort()
      made++
      if (made === 1) await route.abort()
      else await route.fulfill({ response })
    })
    await served.start(SPEED)
    await answers(page).getByText('Hello.').waitFor()
    expect(made).toBe(2)
    const ids = await sessionIds(served)
    expect(ids).toHaveLength(1)
    expect(await countOf(served, ids[0] ?? '', 'input', 'say Hello.')).toBe(1)
  })
})
