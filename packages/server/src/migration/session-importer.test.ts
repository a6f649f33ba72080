import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sessionId } from '#core/base/ids'
import type { Store } from '#core/store/contract'
import { LIMITS, newOperation, register, StoreFixture } from '#core/store/contract-suite/bench'
import { openMemoryStore } from '#core/store/memory/open'
import { type NewImport, SessionImporter } from './session-importer.ts'

let store: Store
beforeEach(() => {
  store = openMemoryStore()
})
afterEach(async () => await store.close())

const id = sessionId('brought')
const importedFrom = { format: 'other', id: 'a', ids: ['a'] }
const brought: NewImport = {
  ...{ id, agent: 'ada', limits: LIMITS, createdAt: 1_000, rows: 2 },
  settings: { importedFrom, tokens: 0 },
}

async function take(more: Partial<NewImport> = {}): Promise<string> {
  const host = { boot: 'boot-1', process: 1 }
  const parts = { reads: store, store, host, isGone: () => false, stageParts: null }
  const taken = await new SessionImporter(parts).take({ ...brought, ...more })
  if ('kind' in taken) return taken.kind
  await taken.close()
  return taken.state
}

/** Another holder continues the session, and releases it or not. */
async function goOn(act: (fixture: StoreFixture) => Promise<unknown>, letsGo = true) {
  await take()
  const fixture = await StoreFixture.acquire(store, id, await register(store))
  await act(fixture)
  if (letsGo) await store.release({ lease: fixture.lease, reason: 'shutdown' })
}

describe('an import into a session that is there', () => {
  it('makes a new one and continues it, at rest', async () => {
    expect([await take(), await take()]).toEqual(['new', 'continued'])
    await goOn((fixture) => fixture.exchange('on', 'yes'))
    expect(await take()).toBe('continued')
  })

  it('waits for the end of a turn, with and without open calls', async () => {
    await goOn((fixture) => fixture.hear('on'))
    expect(await take()).toBe('in-use')
    await goOn((fixture) => fixture.reply('doing', { calls: ['a'] }))
    expect(await take()).toBe('in-use')
  })

  it('waits for the end of a compaction', async () => {
    await goOn(async (fixture) => {
      await fixture.exchange('on', 'yes')
      await fixture.claim(2)
    })
    expect(await take()).toBe('in-use')
  })

  it('leaves one that is held, that came from elsewhere, or that was deleted', async () => {
    await goOn((fixture) => fixture.exchange('on', 'yes'), false)
    expect(await take()).toBe('held')
    const elsewhere = { ...brought.settings, importedFrom: { ...importedFrom, id: 'b' } }
    expect(await take({ settings: elsewhere })).toBe('taken')
    expect(await take({ createdAt: 2_000 })).toBe('taken')
    await store.deleteSession({ sessionId: id, operation: newOperation(), reason: 'asked for' })
    expect(await take()).toBe('gone')
  })
})
