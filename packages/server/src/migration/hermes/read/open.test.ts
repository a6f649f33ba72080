import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { openReadOnly, translate } from './open.ts'
import { readSessions } from './rows.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-open-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function made(name: string, sql: string): string {
  const path = join(folder, name)
  const database = new DatabaseSync(path)
  database.exec(`${sql}; create table t (x); insert into t values (1)`)
  database.close()
  return path
}

async function remarksOf(path: string): Promise<readonly string[]> {
  const opened = await openReadOnly(path)
  await opened.close()
  return opened.remarks
}

const verdictOf = (path: string) =>
  openReadOnly(path).then(
    async (opened) => {
      await opened.close()
      return 'opened'
    },
    (error) => error.facts?.verdict ?? error,
  )

describe('openReadOnly', () => {
  it('remarks on a store in WAL mode without its log, and on no other', async () => {
    expect(await remarksOf(made('wal.db', 'pragma journal_mode = wal'))).toEqual([
      expect.stringContaining('It is in WAL mode'),
    ])
    expect(await remarksOf(made('plain.db', 'pragma journal_mode = delete'))).toEqual([])
  })

  it.each(['512', '4096', '65536'])(
    'notices a file of pages of %s that is cut short',
    async (size) => {
      const path = made(`cut-${size}.db`, `pragma page_size = ${size}`)
      expect(await verdictOf(path)).toBe('opened')
      truncateSync(path, readFileSync(path).length - 1)
      expect(await verdictOf(path)).toBe('damaged')
    },
  )

  it('goes by the size where the count of pages is old', async () => {
    const path = made('old-count.db', '')
    const bytes = readFileSync(path)
    bytes.writeUInt32BE(bytes.readUInt32BE(28) + 5, 28)
    writeFileSync(path, bytes)
    expect(await verdictOf(path)).toBe('damaged')
    bytes.writeUInt32BE(bytes.readUInt32BE(24) + 1, 24)
    writeFileSync(path, bytes)
    expect(await verdictOf(path)).toBe('opened')
  })

  it.each([
    ['empty', ''],
    ['not-a-database', 'SQLite format 4 and so on'],
    ['not-a-database', 'x'],
  ])('says that a file is %s', async (verdict, text) => {
    const path = join(folder, 'other.db')
    writeFileSync(path, text)
    expect(await verdictOf(path)).toBe(verdict)
  })

  it('says that there is no file', async () => {
    expect(await verdictOf(join(folder, 'none.db'))).toBe('missing')
  })
})

describe('readSessions', () => {
  it('reads counts that are absent, empty or there, and leaves out a session without an id', () => {
    const database = new DatabaseSync(':memory:')
    database.exec(`create table sessions (id, source, compression_fallback_streak, compression_ineffective_count);
      insert into sessions values ('a', 'cli', null, null), ('b', null, 2, 3), (null, 'cli', 1, 1)`)
    const read = (...names: string[]) => {
      const columns = new Map([['sessions', new Set(names)]])
      const schema = { version: 26, columns, remarks: [], isExport: false }
      return [...readSessions(database, schema)].map((session) => [
        ...[session.id, session.source, session.fallbackStreak, session.ineffectiveCount],
      ])
    }
    expect(
      read('id', 'source', 'compression_fallback_streak', 'compression_ineffective_count'),
    ).toEqual([
      ['a', 'cli', 0, 0],
      ['b', '', 2, 3],
    ])
    expect(read('id')).toEqual([
      ['a', '', 0, 0],
      ['b', '', 0, 0],
    ])
    database.close()
  })
})

it.each([
  [11, 'damaged'],
  [267, 'damaged'],
  [26, 'not-a-database'],
  [10, 'unreadable'],
  [266, 'unreadable'],
])('takes the error %d of SQLite for %s, with its extensions', (errcode, verdict) => {
  const error = Object.assign(new Error('no'), { code: 'ERR_SQLITE_ERROR', errcode })
  expect(translate(error, 'a.db')).toMatchObject({ facts: { verdict } })
  const other = new Error('no')
  expect(translate(other, 'a.db')).toBe(other)
})
