import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { Workbench } from './workbench.ts'

const COLUMNS = {
  messages: ['id', 'session_id', 'content', 'extra'],
  sessions: ['id', 'source', 'started_at', 'ended_at', 'end_reason', 'title'],
}

function open() {
  const database = new DatabaseSync(':memory:')
  for (const [table, names] of Object.entries(COLUMNS)) {
    database.exec(`create table ${table} (${names.join(', ')})`)
  }
  database.exec(`insert into sessions values ('s', 'cli', 1, 2, 'compression', 'Plans');
    insert into messages values (1, 's', 'one', null), (2, 's', 'two', null)`)
  const columns = new Map(Object.entries(COLUMNS).map(([table, names]) => [table, new Set(names)]))
  const schema = { version: 26, columns, remarks: [], isExport: false }
  return { database, bench: new Workbench(database, schema, 9) }
}

describe('the witness of a repair', () => {
  /** Whether the digest distinguishes a row with the first values from one with the second. */
  const tells = (before: readonly SQLInputValue[], after: readonly SQLInputValue[]) => {
    const { database, bench } = open()
    const update = database.prepare('update messages set content = ?, extra = ? where id = 1')
    update.run(...before)
    const witness = bench.witness()
    update.run(...after)
    const told = bench.witness() !== witness
    database.close()
    return told
  }
  const bytes = (text: string) => new TextEncoder().encode(text)

  it.each<[string, readonly SQLInputValue[], readonly SQLInputValue[]]>([
    ['another text', ['a', null], ['b', null]],
    ['a number in place of its text', ['1', null], [1, null]],
    ['nothing in place of its name', ['null', null], [null, null]],
    ['bytes in place of their text', ['a', null], [bytes('a'), null]],
    ['other bytes', [bytes('a'), null], [bytes('b'), null]],
    ['text that moved to the next column', ['ab', 'c'], ['a', 'bc']],
    ['bytes that moved to the next column', [bytes('ab'), bytes('c')], [bytes('a'), bytes('bc')]],
    ['text with a NUL that moved', ['a\0string b', 'c'], ['a', 'b\0string c']],
    ['a whole number from the next one', [2n ** 60n, null], [2n ** 60n + 1n, null]],
  ])('tells %s', (_, before, after) => {
    expect(tells(before, after)).toBe(true)
    expect(tells(before, before)).toBe(false)
  })

  it.each([
    ['a row that was removed', 'delete from messages where id = 2', true],
    ['rows that were swapped', 'update messages set id = 3 - id', true],
    ['a title', "update sessions set title = 'Other'", true],
    ['a row that was added', "insert into messages values (3, 's', 'three', null)", false],
    [
      'a session that was opened again',
      'update sessions set ended_at = null, end_reason = null',
      false,
    ],
    ['a session that nobody announced', "insert into sessions (id) values ('t')", true],
  ])('of %s', (_, sql, isTold) => {
    const { database, bench } = open()
    const before = bench.witness()
    database.exec(sql)
    expect(bench.witness() !== before).toBe(isTold)
    database.close()
  })

  it('leaves out sessions that the repair added', () => {
    const { database, bench } = open()
    const before = bench.witness()
    bench.addSession('gone', null)
    expect(bench.witness()).toBe(before)
    const added = database.prepare('select id, source, started_at as at from sessions').all()
    expect(added.slice(1).map((row) => ({ ...row }))).toEqual([
      { id: 'gone', source: 'recovered', at: 9 },
    ])
    database.close()
  })
})
