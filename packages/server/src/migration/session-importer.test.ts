import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { entryNumber, sessionId } from '#core/base/ids'
import type { JsonValue } from '#core/base/json'
import type { UserPart } from '#core/message/message'
import { stageParts } from '#core/session/blobs'
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

describe('what an imported message carries', () => {
  const data = Buffer.alloc(3_000, 1).toString('base64')
  const text: UserPart = { type: 'text', text: 'look' }
  const image: UserPart = {
    type: 'image',
    source: { kind: 'base64', mediaType: 'image/png', data },
  }
  const file: UserPart = {
    type: 'file',
    source: { kind: 'base64', mediaType: 'application/pdf', data },
  }

  it.each<[string, readonly UserPart[], number]>([
    ['an image', [image], 1],
    ['a file', [file], 1],
    ['a file after text', [text, file], 1],
    ['both', [image, text, file], 2],
    ['text', [text], 0],
  ])('%s: is kept once beside the transcript, except text', async (_, parts, kept) => {
    const host = { boot: 'boot-1', process: 1 }
    const importer = new SessionImporter({
      ...{ reads: store, store, host, isGone: () => false, stageParts },
    })
    const taken = await importer.take(brought)
    if ('kind' in taken) throw new Error(taken.kind)
    const message = { role: 'user', parts }
    await taken.append({
      ...{ kind: 'input', lane: 'user', row: null, at: 1_000, tokens: 1 },
      body: { message } as unknown as JsonValue,
    })
    await taken.close()
    const range = { sessionId: id, from: entryNumber(2), to: entryNumber(2) }
    const [entry] = await store.readEntries(range)
    const body = JSON.stringify(entry?.body)
    expect(body.match(/blob:/g) ?? []).toHaveLength(kept)
    expect(body).not.toContain(data)
  })
})
