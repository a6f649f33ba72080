import { expect, it } from 'vitest'
import { StoreFixture } from '#core/store/contract-suite/bench'
import { openMemoryStore } from '#core/store/memory/open'
import { readTurnStart } from './turn-start.ts'

it('a turn starts behind the newest entry of an earlier one, as far as a page shows', async () => {
  const store = openMemoryStore()
  const fixture = await StoreFixture.open(store)
  const startOf = async () => {
    const { turn, tail: entry } = await fixture.row()
    return await readTurnStart(store, { sessionId: fixture.id, entry, turn })
  }
  await fixture.hear('one')
  await fixture.reply('looks', { calls: ['a'] })
  expect(await startOf()).toBe(1)
  await fixture.results('a')
  await fixture.reply('first', { ends: 'answered' })
  const { tail: last } = await fixture.row()
  await fixture.hear('two')
  await fixture.reply('looks', { calls: ['b'] })
  expect(await startOf()).toBe(last + 1)
  for (let count = 0; count < 260; count++) {
    await fixture.results('b')
    await fixture.reply('looks', { calls: ['b'] })
  }
  expect(await startOf()).toBe((await fixture.row()).tail - 499)
})
