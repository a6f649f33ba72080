import { expect, it } from 'vitest'
import { sqlitePlace } from '../../../../../../test/support/sqlite-place.ts'
import { SqliteConnection } from '../connection.ts'
import { Writer } from '../worker/writer.ts'
import { IndexWork } from './word-index.ts'

const { newPath } = sqlitePlace()

it('waits longer while commits keep coming, unless many entries wait for it', () => {
  const path = newPath()
  new Writer({ path, anchorPath: `${path}.anchor`, busyMs: 100, anchorMs: 3_600_000 }).close()
  const db = new SqliteConnection(path, { readOnly: false, busyMs: 100 })
  const work = new IndexWork(db)
  expect(work.isDue(performance.now(), performance.now())).toBe(false)

  work.add(1, 1)
  expect(work.isDue(performance.now(), performance.now())).toBe(true)
  const before = performance.now()
  work.step(() => true)()
  const after = performance.now()
  work.add(1, 1)
  expect(work.isDue(before + 100, before + 100)).toBe(false)
  expect(work.isDue(after + 100, after)).toBe(true)
  expect(work.isDue(after + 250, after + 250)).toBe(true)

  work.add(2, 800)
  expect(work.isDue(after + 100, after + 100)).toBe(true)
  db.close()
})
