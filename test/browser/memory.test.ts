import type { Page } from 'playwright-core'
import { describe, expect, it, type TestContext } from 'vitest'
import { systemClock } from '../../packages/core/src/base/clock.ts'
import { sessionId } from '../../packages/core/src/base/ids.ts'
import type { ToolDependencies } from '../../packages/server/src/runtime/tools/tool-dependencies.ts'
import { MEMORY_TOKENS_MAX, memoryTool } from '../../packages/server/src/tools/memory/memory.ts'
import { scheduleTool } from '../../packages/server/src/tools/schedule/schedule.ts'
import { makeSession } from './hands.ts'
import { openStage, seriousFindings } from './stage.ts'

const { open, visit } = openStage()

const use = (tool: string, input: object) => `use ${tool} ${JSON.stringify(input)}`
const KEEP = [
  use('memory', { action: 'add', id: 'drink', text: 'Likes tea.' }),
  use('tasks', { tasks: [{ content: 'Order cups', status: 'in_progress' }] }),
  use('schedule', { action: 'add', in_seconds: 3_600, text: 'Buy milk.' }),
].join('\n')

async function openMemory(ctx: TestContext) {
  const place = await open(ctx, {
    tools: (dependencies: ToolDependencies) => [
      memoryTool({ ...dependencies, tokensMax: MEMORY_TOKENS_MAX }),
      scheduleTool({ ...dependencies, clock: systemClock, timezone: 'UTC' }),
    ],
  })
  const id = await makeSession(place)
  await place.ask(id, KEEP)
  await place.ask(id, 'Never push to main without asking me first.')
  const session = place.runtime.session(sessionId(id))
  const pin = { source: 'test', key: 'pin', name: 'payments', text: 'Leave payments alone.' }
  const admitted = await session.pin(pin)
  if (!('mail' in admitted)) throw new Error(admitted.kind)
  await session.controlOutcome(admitted.mail, AbortSignal.timeout(20_000))
  const visited = await visit(ctx, `${place.url}/#/sessions/${id}/memory`)
  return { place, id, session, ...visited }
}

const section = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

describe('the memory of an agent on the page', { timeout: 120_000 }, () => {
  it('shows notes, pins, tasks, instructions and reminders, and leads to where each came from', async (ctx) => {
    const { page, id, place, problems } = await openMemory(ctx)
    const sources: readonly (readonly [string, string, RegExp])[] = [
      ['Notes', 'Likes tea.', /^From #/],
      ['Pins', 'Leave payments alone.', /^Set at #/],
      ['Tasks', 'Order cups', /^Written at #/],
      ['Standing instructions', 'Never push to main', /^Said in #/],
    ]
    for (const [name, text, link] of sources) {
      await page.goto(`${place.url}/#/sessions/${id}/memory`)
      await section(page, name).getByText(text).waitFor()
      await section(page, name).getByRole('link', { name: link }).click()
      await page.locator('.entry.marked').waitFor()
    }
    await page.goto(`${place.url}/#/sessions/${id}/memory`)
    const reminders = section(page, 'Reminders')
    await reminders.getByText('Buy milk.').waitFor()
    await reminders.getByRole('button', { name: 'Where it was planned' }).click()
    await page.locator('.entry.marked', { hasText: 'Planned as' }).waitFor()
    expect(problems).toEqual([])
  })

  it('is corrected and removed there, and keeps its history', async (ctx) => {
    const { page, session, problems } = await openMemory(ctx)
    const notes = section(page, 'Notes')
    const box = notes.getByRole('textbox', { name: 'Text of drink' })
    const changes = async () => (await session.memory.read())?.changes.length
    const before = await changes()
    await notes.getByRole('button', { name: 'Edit' }).click()
    const focused = () => page.evaluate('document.activeElement?.getAttribute("aria-label")')
    await expect.poll(focused, { timeout: 20_000 }).toBe('Text of drink')
    await notes.getByRole('button', { name: 'Save' }).click()
    await box.waitFor({ state: 'detached' })
    expect(await changes()).toBe(before)
    await notes.getByRole('button', { name: 'Edit' }).click()
    await box.fill('Likes coffee.')
    await notes.getByRole('button', { name: 'Save' }).click()
    await notes.getByText('Likes coffee.').waitFor()
    const seen = async () => JSON.stringify((await session.context({}))?.parts)
    await expect.poll(seen, { timeout: 20_000 }).toContain('Likes coffee.')
    const history = section(page, 'History')
    await history.locator('summary', { hasText: 'Notes changed' }).nth(1).click()
    await history.getByText('] Likes tea.').waitFor()
    for (const name of ['Notes', 'Pins']) {
      await section(page, name).getByRole('button', { name: 'Remove', exact: true }).click()
      await section(page, name).getByRole('button', { name: 'Remove for good' }).click()
      await section(page, name).getByText('None.').waitFor()
    }
    const reminders = section(page, 'Reminders')
    await reminders.getByRole('button', { name: 'Cancel reminder', exact: true }).click()
    await reminders.getByRole('button', { name: 'Cancel reminder for good' }).click()
    await reminders.getByText('None.').waitFor()
    const { notes: left, pins, reminders: due } = (await session.memory.read()) ?? {}
    expect({ left, pins, due }).toEqual({ left: [], pins: [], due: [] })
    expect(problems).toEqual([])
  })

  it('has no serious finding of axe-core, light, dark or narrow', async (ctx) => {
    const { page, problems } = await openMemory(ctx)
    await section(page, 'Notes').getByRole('button', { name: 'Edit' }).click()
    const findings = await seriousFindings(page, 'memory')
    await page.emulateMedia({ colorScheme: 'dark' })
    findings.push(...(await seriousFindings(page, 'memory, dark')))
    await page.setViewportSize({ width: 390, height: 780 })
    findings.push(...(await seriousFindings(page, 'memory, narrow')))
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    const tab = await page.getByRole('link', { name: 'Memory', exact: true }).boundingBox()
    expect((tab?.x ?? 0) + (tab?.width ?? 999)).toBeLessThanOrEqual(390)
    expect(findings).toEqual([])
    expect(problems).toEqual([])
  })
})
