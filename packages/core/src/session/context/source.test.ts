import { describe, expect, it } from 'vitest'
import type { EntryNumber } from '../../base/ids.ts'
import type { JsonValue } from '../../base/json.ts'
import type { Reads } from '../../store/contract.ts'
import { StoreFixture, said } from '../../store/contract-suite/bench.ts'
import { openMemoryStore } from '../../store/memory/open.ts'
import { buildContext } from './build.ts'
import { readSource } from './source.ts'

const ROOMY = {
  ...{ hardTokens: 10_000, pinTokens: 100, handoffTokens: 200, inputTokens: 3_000 },
  ...{ stepTokens: 200, outputTokens: 200, laneMailMax: 50, sourceMailMax: 50 },
}

/** A session with two compactions and some entries after the cut. */
async function longSession() {
  const store = openMemoryStore()
  const fixture = await StoreFixture.open(store, { limits: ROOMY })
  const exchange = async (text: string) => {
    const body = { message: said(text) } as JsonValue
    await fixture.deliver(await fixture.admit(body))
    await fixture.reply(`${text}?`, { calls: ['c'] })
    await fixture.results('c')
    await fixture.reply(`${text}!`, { ends: 'answered' })
  }
  for (const text of ['one', 'two', 'three']) await exchange(text)
  await fixture.compact(fixture.tail.number - 5)
  for (const text of ['four', 'five', 'six']) await exchange(text)
  const covers = (fixture.tail.number - 5) as EntryNumber
  const operation = await store.findOperation(await fixture.claim(covers))
  const session = await fixture.row()
  const source = await store.readContext({ sessionId: fixture.id })
  if (operation === undefined || source === null) throw new Error('the session is there')
  return { store, session, operation, context: buildContext(source, ROOMY, session.tail) }
}

describe('readSource', () => {
  it('returns the same from the context as from the transcript', async () => {
    const { store, session, operation, context } = await longSession()
    // With a digest in effect it must read the transcript, where it finds the handoff below.
    const read = await readSource(store, { ...session, by: 'digest' }, operation, context, [])
    const unread = { readEntries: () => Promise.reject(new Error('reads')) } as unknown as Reads
    const taken = await readSource(unread, session, operation, context, [])
    expect(taken).toEqual(read)
    expect([taken.cut, taken.messages.length > taken.cut]).toEqual([read.cut, true])
  })

  it('reads the transcript when the context does not begin where the handoff does', async () => {
    const { store, session, operation, context } = await longSession()
    const earlier = { ...operation, previous: 0 as EntryNumber }
    const { messages } = await readSource(store, session, earlier, context, [])
    expect(messages.some(({ role }) => role === 'handoff')).toBe(false)
    expect(messages.length).toBeGreaterThan(context.pieces.length)
  })
})
