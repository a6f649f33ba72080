import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { memoryBench } from '../../../../../test/contracts/benches/memory.ts'
import { sqliteBench } from '../../../../../test/contracts/benches/sqlite.ts'
import { answersTo, fill, ROWS, THEMES } from '../../../../../test/contracts/story/answers.ts'
import type { Store } from '../contract.ts'

describe('rows of every kind, as SQLite and memory tell them', () => {
  const stores = new AsyncDisposableStack()
  let [sqlite, memory]: Store[] = []
  beforeAll(async () => {
    sqlite = stores.use(await sqliteBench()).store
    memory = stores.use(await memoryBench()).store
    await Promise.all([fill(sqlite), fill(memory)])
  })
  afterAll(() => stores.disposeAsync())

  it.each(Object.entries(THEMES))('answer questions about %s', async (_, questions) => {
    if (sqlite === undefined || memory === undefined) return expect.fail('there is no store')
    expect(await answersTo(questions(sqlite))).toEqual(await answersTo(questions(memory)))
  })

  it('are the same after they were written once more', async () => {
    if (memory === undefined) return expect.fail('there is no store')
    await using fresh = await sqliteBench()
    await fill(fresh.store)
    expect(await answersTo(ROWS(fresh.store))).toEqual(await answersTo(ROWS(memory)))
  })
})
