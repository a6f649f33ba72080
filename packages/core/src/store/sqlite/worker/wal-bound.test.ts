import { expect, it } from 'vitest'
import { sqlitePlace } from '../../../../../../test/support/sqlite-place.ts'
import { SqliteConnection } from '../connection.ts'
import { walSize } from '../store-file.ts'
import { WAL_CHECK_MS, WalBound } from './wal-bound.ts'
import { Writer } from './writer.ts'

const { newPath } = sqlitePlace()

it('the log of a store is emptied beyond 32 MiB or while it holds erased text, once a second', () => {
  const path = newPath()
  new Writer({ path, anchorPath: `${path}.anchor`, busyMs: 100, anchorMs: 3_600_000 }).close()
  const db = new SqliteConnection(path, { readOnly: false, busyMs: 100 })
  db.exec('create table filled (bytes)')
  const fill = (bytes: number) => db.run('insert into filled values (zeroblob(?))', bytes)
  const bound = new WalBound(db, path)
  fill(1024 * 1024)
  bound.bound(0)
  expect(walSize(path)).toBeGreaterThan(1024 * 1024)
  fill(32 * 1024 * 1024)
  bound.bound(WAL_CHECK_MS - 1)
  expect(walSize(path)).toBeGreaterThan(32 * 1024 * 1024)
  bound.bound(WAL_CHECK_MS)
  expect(walSize(path)).toBe(0)
  fill(1024)
  bound.noteErased()
  bound.bound(WAL_CHECK_MS + 1)
  expect([walSize(path), bound.holdsErased]).toEqual([0, false])
  db.close()
})
