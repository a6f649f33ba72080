import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { afterAll, describe, expect, it, type TestContext } from 'vitest'
import { sessionId } from '../../packages/core/src/base/ids.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'
import { openSqliteStore } from '../../packages/core/src/store/sqlite/open.ts'
import { openPlace, type Place } from './place.ts'
import { openStage, seriousFindings } from './stage.ts'
import { playStory, STORY_WINDOW_TOKENS, storyModel } from './story.ts'

/** What an operator finds out on the page, in a place where something has happened. */
const stage = openStage()

interface Story {
  readonly place: Place
  readonly id: string
  readonly home: string
  readonly store: Store
}
let told: Promise<Story> | undefined

/** One story for all tests: what changes it stands last. */
function openStory(ctx: TestContext): Promise<Story> {
  told ??= tellStory(stage.folder(ctx))
  return told
}

async function tellStory(folder: string): Promise<Story> {
  const home = mkdtempSync(join(tmpdir(), 'throughline-story-'))
  const windowTokens = STORY_WINDOW_TOKENS
  const store = await openSqliteStore({ path: join(home, 'store.db') })
  const place = await openPlace({ folder, store, windowTokens, model: storyModel, home })
  return { place, id: await playStory(place), home, store }
}

afterAll(async () => {
  const story = await told
  await story?.place.close()
  if (story !== undefined) rmSync(story.home, { recursive: true, force: true })
})

/** Counts what a person has to click; typing is free. */
class Hand {
  clicks = 0

  async click(target: Locator): Promise<void> {
    this.clicks++
    await target.click()
  }
}

const row = (page: Page) => page.locator('.list .row', { hasText: 'booking service' })
const tab = (page: Page, name: string) => page.getByRole('link', { name, exact: true })

describe('the page of a used store', { timeout: 120_000 }, () => {
  it('finds sessions by channel, state and message text, compacted or not', async (ctx) => {
    const { place } = await openStory(ctx)
    const { page, problems } = await stage.visit(ctx, place.url)
    const rows = page.locator('.list .row')
    const note = page.locator('.list-note')
    await note.getByText(/^4 sessions/).waitFor()
    const lastDay = page.locator('.last-day')
    await lastDay.getByText('Everything is well.').waitFor()
    await lastDay
      .getByText(/^4 sessions were active .* \d+ turns ended\. .* \d+ model calls took .* in/)
      .waitFor()
    await row(page).getByText('compacted').waitFor()
    await page.getByLabel('Channel').selectOption('telegram:harbour')
    await note.getByText(/^1 session/).waitFor()
    expect(await rows.allTextContents()).toEqual([expect.stringContaining('telegram:harbour')])
    await page.getByLabel('State').selectOption('turn')
    await note.getByText(/^0 sessions/).waitFor()
    await page.getByRole('button', { name: 'Show all' }).click()
    await note.getByText(/^4 sessions/).waitFor()
    const search = page.getByRole('searchbox', { name: /searches all/ })
    await search.fill('88213')
    await search.press('Enter')
    const hit = page.locator('.found', { hasText: 'compacted' }).first()
    await hit.waitFor()
    expect(await hit.locator('mark').textContent()).toBe('88213')
    expect(problems).toEqual([])
  })

  it('shows the author, the waiting messages, the cost and the outcome of each compaction', async (ctx) => {
    const { place, id } = await openStory(ctx)
    const { page, problems } = await stage.visit(ctx, `${place.url}/#/sessions/${id}/compactions`)
    const degraded = page.locator('.compaction.degraded')
    await degraded.locator('details > summary').first().click()
    await degraded.getByText('no model: the built-in digest').waitFor()
    // On a slow machine the digest may be ready before a turn needs it.
    await degraded.getByText(/^(a turn waited \d.*|none)$/).waitFor()
    await degraded.getByText(/^(no model calls|\d+ calls?, )/).waitFor()
    await degraded.getByText('What replaced them').waitFor()
    await degraded.getByText('What became of each message').click()
    const report = degraded.getByRole('region', { name: 'What became of each message' })
    await report.getByText('The cache lost').waitFor()
    expect(await report.locator('details').last().textContent()).toMatch(/^0 Gone/)
    await degraded.getByRole('link', { name: /^rewritten by a model/ }).click()
    const meant = page.locator('.compaction:has(details[open])', { hasText: 'Replaces digest' })
    await meant.getByText('the summary route', { exact: true }).waitFor()
    await meant.getByText(/\d calls?, .* tokens in/).waitFor()
    const failed = page.locator('.compaction.failed').first()
    await failed.locator('details > summary').click()
    await failed.getByText('refused:bad-request').waitFor()
    expect(problems).toEqual([])
  })

  it('shows gateways, owners, verdicts, a rehearsal and the events of one kind', async (ctx) => {
    const { place, home, store } = await openStory(ctx)
    const { page, problems } = await stage.visit(ctx, `${place.url}/#/health`)
    await page.getByText('Everything is well.').waitFor()
    await page.getByText(/^[\d.]+ [KM]B in the store$/).waitFor()
    const audit = page.getByRole('region', { name: 'Audit' })
    expect(await audit.locator('.law').count()).toBeGreaterThan(8)
    expect(await audit.locator('.law.broken').count()).toBe(0)
    const owners = page.getByRole('region', { name: 'Processes' })
    await owners.getByText(`${process.pid} (this one)`).waitFor()
    const routes = page.getByRole('region', { name: 'Model routes' })
    await routes.getByText('compaction').first().waitFor()
    await page.getByLabel('Filter events').fill('compaction committed')
    const events = page.locator('.event')
    const stored = await store.readAudit({ after: 0, limit: 1_000 })
    const committed = stored.filter(({ kind }) => kind === 'compaction committed')
    expect(committed.length).toBeGreaterThan(3)
    await expect.poll(() => events.count()).toBe(committed.length)
    writeFileSync(join(home, 'rehearsal.json'), JSON.stringify(REHEARSAL(Date.now())))
    await page.getByText('Running under faults, 12.0 s').waitFor()
    await page.getByRole('cell', { name: 'agent-1' }).waitFor()
    expect(problems).toEqual([])
  })

  it('has no serious finding of axe-core, light or dark, wide or narrow', async (ctx) => {
    const { place, id, home } = await openStory(ctx)
    const { page, problems } = await stage.visit(ctx, place.url)
    const views: readonly (readonly [string, string, Locator])[] = [
      ['sessions', '#/', page.getByRole('img', { name: /^Turns per hour/ })],
      ['conversation', `#/sessions/${id}`, page.locator('.is-assistant').last()],
      ['context', `#/sessions/${id}/context`, page.locator('.part').first()],
      ['compactions', `#/sessions/${id}/compactions`, page.locator('.chart .line')],
      ['memory', `#/sessions/${id}/memory`, page.getByRole('heading', { name: /^Reminders/ })],
      ['health', '#/health', page.getByText('Running under faults')],
    ]
    const findings: unknown[] = []
    for (const [name, hash, ready] of views) {
      writeFileSync(join(home, 'rehearsal.json'), JSON.stringify(REHEARSAL(Date.now())))
      await page.goto(`${place.url}/${hash}`)
      await ready.waitFor()
      if (name === 'compactions') {
        await page.locator('.compaction.committed details > summary').first().click()
        await page.locator('.sides').waitFor()
      }
      findings.push(...(await seriousFindings(page, name)))
      await picture(page, `${name}-light`)
      await page.emulateMedia({ colorScheme: 'dark' })
      const contrast = { runOnly: ['color-contrast'] }
      findings.push(...(await seriousFindings(page, `${name}, dark`, contrast)))
      await picture(page, `${name}-dark`)
      await page.emulateMedia({ colorScheme: 'light' })
    }
    await page.setViewportSize({ width: 390, height: 780 })
    for (const [name, hash, ready] of views) {
      writeFileSync(join(home, 'rehearsal.json'), JSON.stringify(REHEARSAL(Date.now())))
      await page.goto(`${place.url}/${hash}`)
      await ready.waitFor()
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      if (name === 'conversation') {
        findings.push(...(await seriousFindings(page, 'narrow')))
        // Wherever the text grew meanwhile, it stands at its end.
        await expect.poll(() => page.locator('.to-end').count()).toBe(0)
      }
      await picture(page, `${name}-narrow`)
    }
    expect(findings).toEqual([])
    expect(problems).toEqual([])
  })

  it('shows pins with their texts, and the tasks that a compaction carries, and says why something was not done', async (ctx) => {
    const { place, id } = await openStory(ctx)
    const { page } = await stage.visit(ctx, `${place.url}/#/sessions/${id}`)
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('button', { name: 'Pin…' }).click()
    const pins = page.getByRole('form', { name: 'Pin' })
    await pins.locator('summary', { hasText: 'payments' }).click()
    await pins.getByText('Never touch the table payments.').waitFor()
    await pins.getByRole('button', { name: 'Change' }).click()
    expect(await pins.getByLabel('Name').inputValue()).toBe('payments')
    await pins.getByRole('link', { name: /^Set at #/ }).click()
    await page.locator('.entry.marked', { hasText: 'Pin “payments” set' }).waitFor()
    await page.getByRole('button', { name: 'Tasks…' }).click()
    const panel = page.getByRole('region', { name: 'Tasks' })
    await panel.getByText('Switch over at 02:00').waitFor()
    expect(await panel.locator('.task').count()).toBe(4)
    await panel.getByRole('button', { name: 'Ask for a change…' }).click()
    const box = page.getByRole('textbox', { name: 'Message', exact: true })
    expect(await box.inputValue()).toContain('- Switch over at 02:00\n')
    expect(await box.inputValue()).not.toContain('B-17')
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('button', { name: 'Compact…' }).click()
    const refused = page.getByRole('status').getByText('There is nothing worth compacting yet')
    // Asked while a handoff is still written, it joins that one and is not turned down.
    for (let tries = 0; tries < 15; tries++) {
      await page.getByRole('button', { name: 'Compact now' }).click()
      const isTold = refused.waitFor({ timeout: 1_000 }).then(
        () => true,
        () => false,
      )
      if (await isTold) return
    }
    expect.fail('the page did not report a refused request')
  })

  it('answers the five questions within three clicks each', async (ctx) => {
    const { place, id } = await openStory(ctx)
    const { page, problems } = await stage.visit(ctx, place.url)
    const ask = async (question: (hand: Hand) => Promise<void>): Promise<number> => {
      await page.goto(`${place.url}/#/`)
      await page.reload()
      const hand = new Hand()
      await question(hand)
      return hand.clicks
    }
    const counted = {
      doing: await ask(async () => {
        expect(await row(page).locator('.chip').textContent()).toBe('idle')
      }),
      fill: await ask(async (hand) => {
        expect(await row(page).getByRole('meter').getAttribute('aria-valuetext')).toMatch(/^\d+%/)
        await hand.click(row(page))
        await hand.click(tab(page, 'Context'))
        await page.getByRole('button', { name: /^Summary [\d.]+k?$/ }).waitFor()
      }),
      forgotten: await ask(async (hand) => {
        await hand.click(row(page))
        await hand.click(tab(page, 'Compactions'))
        await hand.click(page.locator('.compaction.committed details > summary').first())
        await page.getByText('left the context').waitFor()
        await page.getByRole('heading', { name: /^Before: / }).waitFor()
        await page.getByText('Kept word for word').last().waitFor()
      }),
      saw: await ask(async (hand) => {
        await page.getByRole('searchbox', { name: /searches all/ }).fill('88213')
        await page.keyboard.press('Enter')
        await hand.click(page.locator('.found', { hasText: 'Done in the staging copy' }).first())
        const said = page.locator('.entry.marked')
        await hand.click(said.getByRole('link', { name: 'What it saw' }))
        await page.getByText('built from the conversation up').waitFor()
        expect(await page.locator('.part').count()).toBeGreaterThan(2)
      }),
      undo: await ask(async (hand) => {
        await hand.click(row(page))
        await hand.click(tab(page, 'Compactions'))
        const effective = async () =>
          (await place.runtime.session(sessionId(id)).summary())?.compaction
        const before = await effective()
        await hand.click(page.getByRole('button', { name: 'Undo' }))
        await expect.poll(effective).not.toBe(before)
      }),
    }
    expect(counted).toEqual({ doing: 0, fill: 2, forgotten: 3, saw: 2, undo: 3 })
    expect(problems).toEqual([])
  })
})

const REHEARSAL = (writtenAt: number) => ({
  ...{ writtenAt, phase: 'driving', elapsedMs: 12_000, verdict: null },
  agents: [1, 2, 3].map((number) => ({
    ...{ name: `agent-${number}`, contextTokens: 1_900 * number, windowTokens: 8_000 },
    ...{ state: number === 3 ? 'down' : 'turn', isCompacting: number === 2, compactions: number },
    ...{ kills: number - 1, acknowledged: 20 + number, waiting: 0 },
  })),
})

/** `THROUGHLINE_PICTURES=docs/pictures` keeps them. */
async function picture(page: Page, name: string): Promise<void> {
  const place = process.env['THROUGHLINE_PICTURES']
  if (place === undefined) return
  mkdirSync(place, { recursive: true })
  await page.screenshot({ path: join(place, `${name}.png`) })
}
