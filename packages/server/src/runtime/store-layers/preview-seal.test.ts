import { expect, it } from 'vitest'
import { sessionId } from '#core/base/ids'
import type { JsonObject } from '#core/base/json'
import { openMemoryStore } from '#core/store/memory/open'
import { ChangedPreviewError, openPreview, sealPreview } from '../sessions/preview-seal.ts'

const handoff = {
  ...{ version: 1, by: 'digest', covers: 3, kept: 0, compactions: 1, summary: 'So far.' },
  ...{ preserved: [], tasks: [], files: [], ledger: [] },
}
const PREVIEW: JsonObject = { base: 4, covers: 3, tokens: 90, carries: [2], handoff }
const S = sessionId('s1')

it('a preview is opened as it was made, by any process with its store', async () => {
  const store = openMemoryStore()
  const sealed = await sealPreview(store, S, PREVIEW)
  expect(sealed).toEqual({ ...PREVIEW, seal: expect.stringMatching(/^[0-9a-f]{64}$/) })
  expect(await sealPreview(store, S, PREVIEW)).toEqual(sealed)
  const { seal = null, ...rest } = sealed
  expect(await openPreview(store, S, { seal, ...rest })).toEqual(PREVIEW)
})

it.each<[string, (sealed: JsonObject) => JsonObject]>([
  ['without its seal', ({ seal: _, ...rest }) => rest],
  ['with another seal', (sealed) => ({ ...sealed, seal: '0'.repeat(64) })],
  ['with another figure', (sealed) => ({ ...sealed, tokens: 91 })],
  ['with other words', (sealed) => ({ ...sealed, handoff: { ...handoff, summary: 'So  far.' } })],
  ['with more', (sealed) => ({ ...sealed, x: 1 })],
  ['that is none', () => ({})],
])('a preview %s is refused', async (_, change) => {
  const store = openMemoryStore()
  const changed = change(await sealPreview(store, S, PREVIEW))
  await expect(openPreview(store, S, changed)).rejects.toEqual(new ChangedPreviewError())
})

it('a preview of another session, of another store or of no form is refused, with what to do', async () => {
  const store = openMemoryStore()
  const sealed = await sealPreview(store, S, PREVIEW)
  const error = new ChangedPreviewError()
  await expect(openPreview(store, sessionId('s2'), sealed)).rejects.toEqual(error)
  await expect(openPreview(openMemoryStore(), S, sealed)).rejects.toEqual(error)
  const odd = await sealPreview(store, S, { ...PREVIEW, covers: -1 })
  await expect(openPreview(store, S, odd)).rejects.toEqual(error)
  const { name, code, retryable, message } = error
  expect({ name, code, retryable, message }).toEqual({
    ...{ name: 'ChangedPreviewError', code: 'changed-preview', retryable: false },
    message:
      'This is not a preview of this session as it was made. Make one, and send it unchanged.',
  })
})
