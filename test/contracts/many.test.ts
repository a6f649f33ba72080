import { describe, expect, it } from 'vitest'
import type { MailNumber } from '../../packages/core/src/base/ids.ts'
import { DELIVERY_MAX } from '../../packages/core/src/store/bounds.ts'
import { StoreFixture } from '../../packages/core/src/store/contract-suite/bench.ts'
import type { StoreBench } from '../../packages/core/src/store/contract-suite/case.ts'
import { memoryBench } from './benches/memory.ts'
import { sqliteBench } from './benches/sqlite.ts'

/** Numbers that no case of the contract needs on every engine. */
const MANY = 10_000
/** The rules are the same for both; a file takes longer. */
const ENGINES: readonly [string, number, () => Promise<StoreBench & AsyncDisposable>][] = [
  ['memory', MANY, async () => await memoryBench()],
  ['SQLite', MANY / 5, sqliteBench],
]
const LIMITS = {
  ...{ hardTokens: 100_000, pinTokens: 100, handoffTokens: 200, inputTokens: 90_000 },
  ...{ stepTokens: 200, outputTokens: 200, laneMailMax: MANY, sourceMailMax: MANY },
}

describe.each(ENGINES)('%s', (_name, messages, makeBench) => {
  it('thousands of messages during one compaction all follow it, in order, and it commits [I10, fault 34]', async () => {
    await using bench = await makeBench()
    const { store } = bench
    const fixture = await StoreFixture.open(store, { limits: LIMITS })
    await fixture.exchange('before', 'it')
    const operation = await fixture.claim(1)
    const mail: MailNumber[] = []
    for (let from = 0; from < messages; from += 500) {
      const texts = Array.from({ length: 500 }, (_, index) => `message ${from + index}`)
      mail.push(...(await Promise.all(texts.map((text) => fixture.admit(text, { tokens: 1 })))))
      if (from === messages / 2) await fixture.deliver(...mail.slice(0, DELIVERY_MAX))
    }
    const compaction = await fixture.commit(operation)
    for (let from = DELIVERY_MAX; from < messages; from += DELIVERY_MAX) {
      await fixture.deliver(...mail.slice(from, from + DELIVERY_MAX))
    }
    const { entries, covers } = (await store.readContext({ sessionId: fixture.id })) ?? {}
    const said = entries?.flatMap(({ kind, number, body }) =>
      kind === 'input' && number > (covers ?? 0) ? [body] : [],
    )
    expect(said).toEqual(Array.from({ length: messages }, (_, index) => `"message ${index}"`))
    expect((await fixture.row()).effective).toBe(compaction)
    expect(await store.verify({})).toEqual([])
  })

  it('a thousand stops at once end one turn and no compaction [I11, fault 36]', async () => {
    await using bench = await makeBench()
    const { store } = bench
    const fixture = await StoreFixture.open(store, { limits: LIMITS })
    await fixture.exchange('before', 'it')
    await fixture.hear('a long task')
    const operation = await fixture.claim(1)
    await Promise.all(Array.from({ length: 1_000 }, () => fixture.stop()))
    await fixture.commit(operation)
    const { turn } = await fixture.row()
    const ends = { how: 'stopped', replies: [] } as const
    await store.commitReply({ ...fixture.fenced(), turn, ends })
    const row = await fixture.row()
    // What was asked before the stop is still to be answered, by the next turn.
    expect([row.pending.control, row.turn, row.turnState]).toEqual([0, turn + 1, 'running'])
    expect((await store.findOperation(operation))?.state).toBe('committed')
  })
})
