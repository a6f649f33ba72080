import { expect, it } from 'vitest'
import { sessionId } from '#core/base/ids'
import { StoreFixture, said } from '#core/store/contract-suite/bench'
import { openMemoryStore } from '#core/store/memory/open'
import { findUnfinished, readKept, readLines, readStored } from './kept.ts'
import { Watcher } from './watcher.ts'

it('reads everything that the store has of each session', async () => {
  const store = openMemoryStore()
  const done = await StoreFixture.open(store, { id: sessionId('done') })
  for (const text of ['one', 'two', 'three']) await done.exchange(text, 'yes')
  await done.compact(4)
  const busy = await StoreFixture.open(store, { id: sessionId('busy') })
  await busy.exchange('hello', 'yes')
  await busy.hear('and now?')
  await busy.admit(said('wait'))
  await busy.stop()
  const operation = await busy.claim(1)
  const empty = await StoreFixture.open(store, { id: sessionId('empty') })

  const stored = await readStored(store)
  const facts = stored.map(({ row, entries, mail, operations, replies }) => [
    ...[row.id, entries.map(({ number }) => number), mail.map(({ number }) => number)],
    ...[operations.length, replies.length],
  ])
  expect(facts.toSorted()).toEqual([
    ['busy', [1, 2, 3, 4], [1, 2, 3, 4], 1, 0],
    ['done', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [1, 2, 3], 1, 0],
    ['empty', [], [], 0, 0],
  ])
  const watcher = new Watcher(store, () => {})
  const kept = await readKept(store, watcher)
  expect(kept).toEqual(
    stored.map(({ row, entries }) => {
      const { compactions, torn, meanwhile } = watcher.of(row.id)
      return { agent: row.id, entries, compactions, torn, meanwhile }
    }),
  )
  expect(await findUnfinished(store, ['busy', 'done', 'empty'])).toEqual([
    ...['busy: 2 messages wait', 'busy: turn 2 runs', `busy: ${operation} runs`],
  ])
  expect(await findUnfinished(store, [empty.id, 'done'])).toEqual([])
  expect(readLines('/no such file')).toEqual([])
})
