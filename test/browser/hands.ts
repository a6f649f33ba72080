import type { Page } from 'playwright-core'
import { FIND_FOREIGN } from './in-page.ts'
import type { Place } from './place.ts'

/** What people do on the page, and what they look at. */
export const message = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true })
export const answers = (page: Page) => page.locator('.is-assistant:not(.writing)')

export async function say(page: Page, text: string): Promise<void> {
  await message(page).fill(text)
  await message(page).press('Enter')
}

export async function makeSession(place: Place, id = 'pump'): Promise<string> {
  const created = await place.runtime.createSession({ agent: 'main', id })
  if (!('sessionId' in created)) throw new Error(created.kind)
  return created.sessionId
}

/** Elements and attributes that the page itself never makes. */
export async function foreignNodes(page: Page): Promise<string[]> {
  return (await page.evaluate(FIND_FOREIGN)) as string[]
}
