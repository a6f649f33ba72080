import { describe, expect, it } from 'vitest'
import { answers, makeSession } from './hands.ts'
import { openStage } from './stage.ts'

const { open, visit } = openStage()

describe('an answer on the page', { timeout: 120_000 }, () => {
  it('can be returned to: a new session continues from it, and the old one stays', async (ctx) => {
    const place = await open(ctx, { model: { script: () => ({ text: 'Noted.' }) } })
    const id = await makeSession(place)
    await place.ask(id, 'The first report.')
    await place.ask(id, 'The second report.')
    const { page, problems } = await visit(ctx, `${place.url}/#/sessions/${id}`)
    await page.getByText('The second report.').waitFor()
    await page.getByRole('button', { name: 'Go back to here' }).first().click()
    await page.getByText('The second report.').waitFor({ state: 'detached' })
    await page.getByText('The first report.').waitFor()
    await page.locator('.note', { hasText: 'It was forked from' }).waitFor()
    await page.getByRole('heading', { name: /^Fork of / }).waitFor()
    const fork = new URL(page.url()).hash.replace('#/sessions/', '')
    expect(fork).not.toBe(id)
    const summary = await place.runtime.session(fork as never).summary()
    expect(summary?.forkedFrom).toMatchObject({ sessionId: id })
    const old = await place.runtime.session(id as never).summary()
    expect(old?.entries).toBeGreaterThan(summary?.entries ?? 0)
    expect(problems).toEqual([])
  })

  it('has a button that copies its code, and no other text', async (ctx) => {
    const text = 'Run this:\n\n```sh\nnpm ci\nnpm start\n```\n\nThen wait.'
    const place = await open(ctx, { model: { script: () => ({ text }) } })
    const id = await makeSession(place)
    await place.ask(id, 'How do I start it?')
    const { page, problems } = await visit(ctx, `${place.url}/#/sessions/${id}`)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Copy' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('npm ci\nnpm start')
    expect(problems).toEqual([])
  })

  it('is below its question, and the first settings are shown only through a link to them', async (ctx) => {
    const place = await open(ctx, { model: { script: () => ({ text: 'Noted.' }) } })
    const id = await makeSession(place)
    await place.ask(id, 'The first report.')
    const address = `${place.url}/#/sessions/${id}`
    const { page, problems } = await visit(ctx, address)
    await answers(page).getByText('Noted.').waitFor()
    const settings = page.locator('.is-settings')
    expect(await settings.getAttribute('data-entry')).toBe('1')
    expect(await settings.isVisible()).toBe(false)
    await page.goto(`${address}?at=1`)
    await settings.getByText('Settings changed.').waitFor()
    expect(problems).toEqual([])
  })
})
