import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../base/json.ts'
import type { Store } from '../store/contract.ts'
import { StoreFixture, said } from '../store/contract-suite/bench.ts'
import { openMemoryStore } from '../store/memory/open.ts'
import { SessionViewReader } from './session-view-reader.ts'

const ANA = { edge: 'telegram', address: 'ana' }

async function exchange(fixture: StoreFixture, replyTo?: typeof ANA): Promise<void> {
  const body = { message: said('hi'), ...(replyTo !== undefined && { replyTo }) }
  await fixture.deliver(await fixture.admit(body as JsonValue))
  const replies = replyTo === undefined ? [] : [{ ...replyTo, key: 'k', body: { text: 'hello' } }]
  await fixture.reply('hello', { ends: 'answered', replies })
}

/** Counts the entries that are read one by one or in pages. */
function countingEntries(store: Store): { readonly store: Store; readonly entries: () => number } {
  let entries = 0
  const readEntries: Store['readEntries'] = async (query) => {
    const page = await store.readEntries(query)
    entries += page.length
    return page
  }
  return { store: { ...store, readEntries }, entries: () => entries }
}

describe('the first look at a session', () => {
  it('reads a bounded part of the transcript if no input names where its answer goes', async () => {
    const { store, entries } = countingEntries(openMemoryStore())
    const fixture = await StoreFixture.open(store)
    for (let round = 0; round < 100; round++) await exchange(fixture)
    await fixture.compact(fixture.tail.number - 4)
    const look = await new SessionViewReader(store, fixture.lease).look()
    expect([look?.view.replyTo, entries()]).toEqual([null, 200])
  })

  it('sends the answer where the last one went, even if a compaction covers the input that said so', async () => {
    const { store, entries } = countingEntries(openMemoryStore())
    const fixture = await StoreFixture.open(store)
    await exchange(fixture, ANA)
    for (let round = 0; round < 20; round++) await exchange(fixture)
    await fixture.compact(fixture.tail.number - 4)
    const look = await new SessionViewReader(store, fixture.lease).look()
    expect([look?.view.replyTo, entries()]).toEqual([ANA, 0])
  })

  it('sends the answer where the newest input in the context requests it', async () => {
    const store = openMemoryStore()
    const fixture = await StoreFixture.open(store)
    await exchange(fixture, ANA)
    const bo = { edge: 'telegram', address: 'bo' }
    await fixture.deliver(
      await fixture.admit({ message: said('hi'), replyTo: bo } as unknown as JsonValue),
    )
    const look = await new SessionViewReader(store, fixture.lease).look()
    expect(look?.view.replyTo).toEqual(bo)
  })
})

describe('a handoff without a body', () => {
  /** A store that returns the newest compaction without its body the first `times` times. */
  async function emptied(times: number) {
    const store = openMemoryStore()
    const fixture = await StoreFixture.open(store)
    for (let round = 0; round < 4; round++) await exchange(fixture, ANA)
    await fixture.compact(fixture.tail.number - 4)
    const { number } = fixture.tail
    let reads = 0
    const readContext: Store['readContext'] = async (query) => {
      const source = await store.readContext(query)
      if (source === null || ++reads > times) return source
      const entries = source.entries.map((entry) =>
        entry.number === number ? { ...entry, body: null, salt: null } : entry,
      )
      return { ...source, entries }
    }
    return new SessionViewReader({ ...store, readContext }, fixture.lease)
  }

  it('means that another session erased it after the row was read: the row is read again', async () => {
    const look = await (await emptied(1)).look()
    expect(look?.view.context.handoff?.message).toMatchObject({ handoff: expect.anything() })
  })

  it('is reported as damage if the row names no erasure the second time either', async () => {
    await expect((await emptied(9)).look()).rejects.toThrow(/has no body/)
  })
})

describe('the view after a commit of our own', () => {
  async function opened() {
    const fixture = await StoreFixture.open(openMemoryStore())
    await exchange(fixture, ANA)
    const reader = new SessionViewReader(fixture.store, fixture.lease)
    await reader.look()
    return { fixture, reader, other: new SessionViewReader(fixture.store, fixture.lease) }
  }
  const deliver = async (fixture: StoreFixture) => {
    const mail = [await fixture.admit({ message: said('and now?') } as unknown as JsonValue)]
    const outcome = await fixture.store.deliver({ ...fixture.fenced(), mail })
    if (outcome.kind !== 'delivered') throw new Error(outcome.kind)
    return outcome.written
  }

  it('is what a fresh read would show', async () => {
    const { fixture, reader, other } = await opened()
    const followed = reader.follow(await deliver(fixture))
    expect(followed?.view).toEqual((await other.look())?.view)
    expect(followed?.next).toEqual(expect.any(String))
  })

  it('needs a fresh read if mail waits', async () => {
    const { fixture, reader } = await opened()
    const mail = [await fixture.admit({ message: said('one') } as unknown as JsonValue)]
    await fixture.admit({ message: said('two') } as unknown as JsonValue)
    const outcome = await fixture.store.deliver({ ...fixture.fenced(), mail })
    if (outcome.kind !== 'delivered') throw new Error(outcome.kind)
    expect(reader.follow(outcome.written)).toBe(null)
    expect((await reader.look())?.view.waiting).toHaveLength(1)
  })
})

describe('the view after a commit', () => {
  it('needs no look while the mail that waits stays the same', async () => {
    const store = openMemoryStore()
    const fixture = await StoreFixture.open(store)
    await fixture.hear('work')
    const waiting = await fixture.admit(said('later') as JsonValue)
    const reader = new SessionViewReader(store, fixture.lease)
    await reader.look()
    const { written } = await fixture.reply('calling', { calls: ['a'] })
    const followed = reader.follow(written)
    expect(followed?.view.waiting.map(({ number }) => number)).toEqual([waiting])
    expect(followed?.view).toEqual((await reader.look())?.view)
  })

  it('is read again once mail has arrived or left', async () => {
    const store = openMemoryStore()
    const fixture = await StoreFixture.open(store)
    await fixture.hear('work')
    const first = await fixture.admit(said('later') as JsonValue)
    const reader = new SessionViewReader(store, fixture.lease)
    await reader.look()
    await store.withdraw({ sessionId: fixture.id, mail: first })
    await fixture.admit(said('instead') as JsonValue)
    const { written } = await fixture.reply('calling', { calls: ['a'] })
    expect(reader.follow(written)).toBeNull()
  })
})
