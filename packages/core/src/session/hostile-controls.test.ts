import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  ask,
  create,
  fill,
  host,
  preview,
  rowOf,
  say,
} from '../../../../test/support/session-host.ts'
import type { JsonObject, JsonValue } from '../base/json.ts'
import { parsePreview } from './context/parse-preview.ts'

/** Invalid control mail, as only a foreign program sends it. */

describe('a control that cannot be carried out', () => {
  it('is settled without effect, and the next message is answered', async () => {
    const process = host()
    const id = await create(process.store, 'a')
    await fill(process, id)
    const install = await preview(process, id)
    const forged: readonly [string, JsonObject][] = [
      ['pin', { name: '../..', text: 'x' }],
      ['pin', { name: '', text: 'x' }],
      ['install', { ...install, handoff: {} }],
      ['install', { ...install, covers: 1.5 }],
      ['install', { ...install, tokens: -5 }],
      ['install', { ...install, tokens: 0.5 }],
      ['install', { ...install, covers: 2 ** 40 }],
      ['erase', { entries: [0.5, -1, 2 ** 40] }],
      ['policy', { policy: 'none' }],
    ]
    for (const [control, body] of forged) {
      await ask(process.store, id, control, body)
      await process.run(500)
      const row = await rowOf(process.store, id)
      expect([control, row.pending.control, row.effective]).toEqual([control, 0, 0])
    }
    await say(process.store, id, 'still there?')
    await process.run(500)
    expect(process.model.last.at(-1)).toBe('still there?')
    await ask(process.store, id, 'install', install)
    await process.run(500)
    expect((await rowOf(process.store, id)).effective).toBeGreaterThan(0)
  })
})

describe('a preview sent back for installation', () => {
  it('is accepted unchanged, and refused with any part of its handoff replaced', async () => {
    const process = host()
    const id = await create(process.store, 'a')
    await fill(process, id)
    const install = await preview(process, id)
    expect(parsePreview(install)).toEqual(install)
    const wrong = fc.constantFrom<JsonValue>(null, true, -1, 1.5, { a: 1 }, [0], [null], [{}])
    const handoff = install['handoff'] as JsonObject
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(handoff)), wrong, (name, value) => {
        expect(parsePreview({ ...install, handoff: { ...handoff, [name]: value } })).toBeNull()
      }),
    )
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (body) => {
        expect(parsePreview(body as JsonObject)).toBeNull()
      }),
    )
  })
})
