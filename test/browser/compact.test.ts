import { describe, expect, it } from 'vitest'
import { systemClock } from '../../packages/core/src/base/clock.ts'
import { SILENT } from '../../packages/core/src/base/logger.ts'
import { openMemoryStore } from '../../packages/core/src/store/memory/open.ts'
import { Recorder } from '../../packages/server/src/runtime/client-sessions/recorder.ts'
import { until } from '../support/until.ts'
import { makeSession } from './hands.ts'
import { openStage } from './stage.ts'

const { open, visit } = openStage()

const WINDOW = 8_000

describe('a compaction on the page', { timeout: 120_000 }, () => {
  it('is called requested only until it starts or is refused', async (ctx) => {
    const place = await open(ctx)
    const id = await makeSession(place)
    await place.ask(id, 'say Noted.')
    const { page } = await visit(ctx, `${place.url}/#/sessions/${id}`)
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('button', { name: 'Compact…' }).click()
    await page.getByRole('button', { name: 'Compact now' }).click()
    await page.getByRole('status').getByText('There is nothing worth compacting yet').waitFor()
    await page.getByText('Compaction requested').waitFor({ state: 'detached' })
    for (let at = 0; at < 12; at += 1)
      await place.ask(id, `say Part ${at}. ${'Long text. '.repeat(400)}`)
    await page.getByRole('button', { name: 'Compact now' }).click()
    await page
      .locator('.session-facts')
      .getByText(/compacted (now|\d+ s ago)/)
      .waitFor()
    await page.getByText('Compaction requested').waitFor({ state: 'detached' })
  })

  it('that would gain nothing is refused beside the button, and is not listed as failed', async (ctx) => {
    const place = await open(ctx)
    const id = await makeSession(place)
    // The user's own words stay in the handoff, so it is no smaller than they are.
    const numbers = Array.from({ length: 20 }, (_, at) => at + 1)
    for (const at of numbers.slice(0, 10))
      await place.ask(
        id,
        `say Noted. Please remember number ${at} of ${numbers.slice(at).join(' ')}`,
      )
    const { page } = await visit(ctx, `${place.url}/#/sessions/${id}/compactions`)
    await page.getByText('Preview the next compaction').click()
    const panel = page.getByRole('form', { name: 'Compact' })
    await panel.getByRole('button', { name: 'Compact now' }).click()
    await panel.getByRole('status').getByText('There is nothing worth compacting yet').waitFor()
    const tried = (await place.runtime.session(id as never).compactions({ limit: 9 })) ?? []
    expect(tried.map(({ failure }) => failure)).toEqual(['not-smaller', 'not-smaller'])
    await page.getByText('No compaction yet').waitFor()
    expect(await page.locator('.compaction').count()).toBe(0)
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  it('that the proxy made for its client is listed with its report, and can be undone', async (ctx) => {
    const store = openMemoryStore()
    const place = await open(ctx, { store })
    const logger = SILENT
    const recorder = new Recorder({ store, clock: systemClock, logger, windowTokens: WINDOW })
    ctx.onTestFinished(() => recorder.close())
    const messages: { role: string; content: string }[] = []
    const turn = async (text: string, input_tokens: number) => {
      messages.push({ role: 'user', content: text })
      const body = Buffer.from(
        JSON.stringify({ model: 'claude-x', messages, tools: [{ name: 'Bash' }] }),
      )
      const headers = { 'x-claude-code-session-id': 's1' }
      const asked = await recorder.begin({ path: '/v1/messages', headers, body, launch: null })
      const content = [{ type: 'text', text: 'Noted.' }]
      asked.take({ type: 'message', role: 'assistant', content, usage: { input_tokens } })
      await asked.end()
      messages.push({ role: 'assistant', content: 'Noted.' })
    }
    for (let at = 0; at < 12; at += 1) await turn(`Part ${at}. ${'Long text. '.repeat(100)}`, 100)
    await turn('More', WINDOW * 0.7)
    const session = place.runtime.session('claude-s1' as never)
    await until(async () => ((await session.compactions({ limit: 9 }))?.length ?? 0) > 0)

    const { page } = await visit(ctx, `${place.url}/#/sessions/claude-s1/compactions`)
    const row = page.locator('.compaction')
    await row.getByText('in effect').waitFor()
    // The proxy decides when; a request for one would be refused.
    await page.getByText('Preview the next compaction').waitFor({ state: 'detached' })
    expect(await row.getByText('degraded').count()).toBe(0)
    await row.locator('summary').first().click()
    await row.locator('.fates > summary').click()
    await row.getByText('Recallable: not in the context, but recall finds it').waitFor()
    await row.getByRole('button', { name: 'Undo' }).click()
    await row.getByText('undone').waitFor()
    await page.getByRole('link', { name: 'Conversation', exact: true }).click()
    await page.getByText(/that the provider has not cached/).waitFor()
    await page.getByText(/Compaction #\d+ was undone/).waitFor()
    // No agent reads it, so the page offers nothing that would be refused.
    await page.getByText('Continue this conversation in its client').waitFor()
    expect(await page.getByRole('textbox', { name: 'Message' }).count()).toBe(0)
    await page.getByText('Noted.').first().waitFor()
    expect(await page.getByRole('button', { name: 'Go back to here' }).count()).toBe(0)
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('button', { name: 'Rename…' }).waitFor()
    expect(await page.getByRole('button', { name: 'Compact…' }).count()).toBe(0)
    // Its program runs the loop, so there are calls and no turns.
    await page.goto(`${place.url}/#/`)
    await page.getByRole('img', { name: /^Model calls per hour, at most 1\d at/ }).waitFor()
  })
})
