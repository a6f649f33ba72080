import { describe, expect, it } from 'vitest'
import { answers, makeSession, say } from './hands.ts'
import { openStage, seriousFindings } from './stage.ts'

/** What the Markdown of an answer becomes on the page. */
const { open, visit } = openStage()

const ANSWER = `# Plan

| Table | Rows |
| --- | --- |
| bookings | **418** |
| audit | 12 |

3. Restore
   - the dump
     - into a *fresh* cluster
4. Compare

> Quoted
>
> > twice, ~~not~~ once

\`\`\`ts
const berth = 'B-17' // the older booking
return 2
\`\`\`

---

[Manual](https://manual.example/a) <mailto:port@port.example> https://bare.example/b. [Old](ftp://old.example)

Entities: &auml; &NotEqualTilde; &#64; &ltx; &nosuch; <b>no tag</b>`

describe('an answer in Markdown', { timeout: 120_000 }, () => {
  it('has tables, nested lists, quotes, coloured code and safe links', async (ctx) => {
    const place = await open(ctx, { model: { script: () => ({ text: ANSWER }) } })
    const id = await makeSession(place)
    const { page, problems } = await visit(ctx, `${place.url}/#/sessions/${id}`)
    await say(page, 'Tell me.')
    const said = answers(page).locator('.said')
    await said.getByRole('heading', { name: 'Plan' }).waitFor()
    const texts = (selector: string) => said.locator(selector).allTextContents()
    expect(await texts('th')).toEqual(['Table', 'Rows'])
    expect(await texts('td')).toEqual(['bookings', '418', 'audit', '12'])
    const borders = `getComputedStyle(document.querySelector('.said tr:last-child td')).borderWidth`
    expect(await page.evaluate(borders)).toBe('1px')
    expect(await said.locator('ol').getAttribute('start')).toBe('3')
    expect(await texts('ol > li > ul > li > ul > li')).toEqual(['into a fresh cluster'])
    expect(await texts('blockquote blockquote')).toEqual(['twice, not once'])
    expect(await texts('s')).toEqual(['not'])
    expect(await texts('pre .code-keyword')).toEqual(['const', 'return'])
    expect(await texts('pre .code-comment')).toEqual(['// the older booking'])
    expect(await said.locator('hr').count()).toBe(1)
    const links = said.locator('a')
    expect(await links.evaluateAll((all) => all.map((each) => each.getAttribute('href')))).toEqual([
      'https://manual.example/a',
      'mailto:port@port.example',
      'https://bare.example/b',
    ])
    expect(await texts('p:last-of-type')).toContain('Entities: ä ≂̸ @ &ltx; &nosuch; <b>no tag</b>')
    expect(await seriousFindings(page, 'light')).toEqual([])
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await seriousFindings(page, 'dark')).toEqual([])
    expect(problems).toEqual([])
  })
})
