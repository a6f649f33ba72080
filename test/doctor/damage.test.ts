import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { openMemoryStore } from '../../packages/core/src/store/memory/open.ts'
import { diagnoseHermes } from '../../packages/server/src/migration/hermes/diagnose/diagnose.ts'
import { repairHermes } from '../../packages/server/src/migration/hermes/repair/repair.ts'
import { EmptyHome } from './homes/empty-home.ts'
import { bring } from './judges/bring.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-damage-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const START = 1_790_000_000
const NOW = (START + 86_400) * 1_000
const ROWS = 30

/** One open conversation with a route, as Hermes would have left it. */
function healthy(schema = 26): EmptyHome {
  const home = new EmptyHome(folder, schema)
  home.session('one', { started_at: START })
  for (let row = 0; row < ROWS; row++) {
    home.row('one', row % 2 ? 'assistant' : 'user', `words ${row}`, START + row * 60)
  }
  if (schema >= 26) {
    home.exec(
      `insert into gateway_routing values ('', 'agent:main:telegram:dm:1', '{"session_id": "one"}', 0)`,
    )
  }
  return home
}

async function findingsOf(path: string): Promise<readonly (readonly [string, string])[]> {
  const { profiles } = await diagnoseHermes(path, { now: NOW })
  expect(profiles.map(({ store }) => store.kind)).toEqual(['read'])
  return profiles.flatMap(({ findings }) =>
    findings.map(({ kind, severity }) => [kind, severity] as const),
  )
}

/** What is done to it, and what must be said. */
const DAMAGES: readonly (readonly [what: string, sql: string, kind: string, severity?: string])[] =
  [
    ['a search table is gone', 'drop table messages_fts', 'broken-search', 'harm'],
    ['a trigger is gone', 'drop trigger messages_fts_insert', 'broken-search', 'harm'],
    [
      'rows are not in the index',
      'delete from messages_fts_docsize where id > 20',
      'broken-search',
    ],
    [
      'the index holds rubbish',
      `update messages_fts_data set block = x'ffffffff00ff'`,
      'broken-search',
      'harm',
    ],
    [
      'a part of the index is gone',
      "pragma writable_schema = on; delete from sqlite_schema where name = 'messages_fts_data'",
      'broken-search',
      'harm',
    ],
    [
      'a row holds half a letter',
      `update messages set content = cast(x'41ff8042' as text) where id = 3`,
      'unreadable-text',
      'harm',
    ],
    [
      'a long row holds half a letter',
      `update messages set content = cast(zeroblob(9000) || x'ff' as text) where id = 3`,
      'unreadable-text',
      'harm',
    ],
    [
      'a session holds half a letter',
      `update sessions set title = cast(x'41ff' as text)`,
      'unreadable-text',
      'harm',
    ],
    [
      'a shared prompt holds half a letter',
      `insert into system_prompts values ('h', cast(x'41ff' as text)); update sessions set system_prompt_hash = 'h'`,
      'unreadable-text',
      'harm',
    ],
    [
      'a session is its own parent',
      `update sessions set parent_session_id = 'one'`,
      'parent-circle',
    ],
    ['a parent is missing', `update sessions set parent_session_id = 'gone'`, 'parent-missing'],
    [
      'a route is torn',
      `update gateway_routing set entry_json = '{"session_i'`,
      'torn-route',
      'harm',
    ],
    [
      'a route names no session',
      `update gateway_routing set entry_json = '{}'`,
      'torn-route',
      'harm',
    ],
    [
      'a route leads to an ended session',
      `update sessions set end_reason = 'session_reset', ended_at = ${START + 9_000}`,
      'route-on-ended-session',
    ],
    [
      'everything is archived',
      'update messages set active = 0, compacted = 1',
      'nothing-live',
      'harm',
    ],
    [
      'the reason is rubbish',
      `update sessions set end_reason = '?!', ended_at = ${START + 9_000}`,
      'odd-ending',
    ],
    ['there is a reason and no end', `update sessions set end_reason = 'idle'`, 'odd-ending'],
    [
      'there is an end and no reason',
      `update sessions set ended_at = ${START + 9_000}`,
      'odd-ending',
    ],
    [
      'the end is a word',
      `update sessions set end_reason = 'idle', ended_at = 'yesterday'`,
      'odd-ending',
    ],
    [
      'a row lies before 1970',
      'update messages set timestamp = -5 where id = 3',
      'impossible-time',
    ],
    [
      'a row lies in the year 1970',
      'update messages set timestamp = 5 where id = 3',
      'impossible-time',
    ],
    [
      'a row lies in the future',
      'update messages set timestamp = 99999999999 where id = 30',
      'impossible-time',
    ],
    ['a row has no time', `update messages set timestamp = 'noon' where id = 3`, 'impossible-time'],
    [
      'a session begins in the future',
      `update sessions set started_at = ${START + 9e7}`,
      'impossible-time',
    ],
    [
      'a session has no id',
      "insert into sessions (id, source, started_at) values (null, 'cli', 1790000000)",
      'nameless-rows',
    ],
    [
      'columns are missing',
      'alter table messages drop column api_content',
      'missing-columns',
      'note',
    ],
  ]

describe('damage that no conversation shows', () => {
  it('is not reported for a healthy store', async () => {
    for (const schema of [11, 26]) {
      const home = healthy(schema)
      home.close()
      expect(await findingsOf(home.path)).toEqual([])
    }
  })

  it.each(DAMAGES)('is found: %s', async (_what, sql, kind, severity = 'risk') => {
    const home = healthy()
    home.exec(sql ?? '')
    home.close()
    expect(await findingsOf(home.path)).toContainEqual([kind, severity])
  })

  it('is found once: a message has no session id', async () => {
    const home = healthy()
    home.exec(`pragma writable_schema = on; update sqlite_schema set sql =
      replace(sql, 'session_id TEXT NOT NULL', 'session_id TEXT') where name = 'messages';
      pragma writable_schema = reset; update messages set session_id = null where id = 3`)
    home.close()
    expect(await findingsOf(home.path)).toEqual([['nameless-rows', 'risk']])
    const to = join(dirname(home.path), 'repaired.db')
    expect((await repairHermes({ path: home.path, to, now: NOW })).changes).toEqual([])
  })

  it('is refused: an id that JavaScript would round to the id of another row', async () => {
    const home = healthy()
    home.exec('update messages set id = id + 4611686018427387904 where id > 20')
    home.close()
    const to = join(dirname(home.path), 'repaired.db')
    await expect(repairHermes({ path: home.path, to, now: NOW })).rejects.toThrow('impossible id')
    await expect(bring(home.path, openMemoryStore())).rejects.toThrow('impossible id')
  })

  it('is found: an index points to rows that are not there', async () => {
    const home = healthy()
    home.exec(`create index of_mine on messages (role); pragma writable_schema = on;
      update sqlite_schema set rootpage = (select rootpage from sqlite_schema where name = 'idx_sessions_source')
      where name = 'of_mine'`)
    home.close()
    expect(await findingsOf(home.path)).toContainEqual(['damaged-index', 'harm'])
  })

  it('is found: the file with the routes is torn, and the import says so', async () => {
    const home = healthy(11)
    home.close()
    mkdirSync(join(dirname(home.path), 'sessions'))
    writeFileSync(
      join(dirname(home.path), 'sessions', 'sessions.json'),
      '{"agent:main:telegram:dm:1": {"session',
    )
    expect(await findingsOf(home.path)).toEqual([['torn-route', 'harm']])
    const { profiles } = await bring(home.path, openMemoryStore())
    expect(profiles[0]?.routes).toEqual([
      expect.objectContaining({ key: 'sessions.json', outcome: 'torn' }),
    ])
  })

  it('is found: a log that was cut short', async () => {
    const home = healthy()
    home.close()
    const writer = new DatabaseSync(home.path)
    writer.exec('pragma journal_mode = wal; pragma wal_autocheckpoint = 0')
    const add = writer.prepare(
      `insert into messages (session_id, role, content, timestamp) values ('one', 'user', ?, ?)`,
    )
    for (let row = 0; row < 50; row++) add.run(`later ${row}`, START + 9_000 + row)
    const copy = join(mkdtempSync(join(folder, 'cut-')), 'state.db')
    for (const suffix of ['', '-wal']) copyFileSync(home.path + suffix, copy + suffix)
    writer.close()
    const logBytes = 32 + 40 * (24 + 4_096) + 1_000
    expect(await findingsOf(copy)).toEqual([])
    truncateSync(`${copy}-wal`, logBytes)
    expect(await findingsOf(copy)).toEqual([['cut-log', 'risk']])
    const { profiles } = await bring(copy, openMemoryStore())
    expect(profiles[0]?.remarks.join()).toContain('in the middle of a commit')
  })
})

describe('the search index of a healthy store', () => {
  const WRITES = `import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
for n in range(3):
    db.execute("insert into messages (session_id, role, content, timestamp) values ('one', 'user', ?, ?)",
               ('\\0json:[{"type": "text", "text": "see"}]', ${START} + 5000 + n))
db.commit()`

  it.each([11, 26])(
    'of schema %i is left as it is, whichever SQLite cut its words',
    async (schema) => {
      const home = healthy(schema)
      home.close()
      const python = spawnSync('python3', ['-c', WRITES, home.path], { encoding: 'utf8' })
      if (python.error !== undefined || python.status !== 0) {
        console.log(`python3 takes no part: ${python.error?.message ?? python.stderr}`)
      }
      const to = join(dirname(home.path), 'repaired.db')
      const { changes, left } = await repairHermes({ path: home.path, to, now: NOW })
      expect({ changes, left }).toEqual({ changes: [], left: [] })
    },
  )

  it('is rebuilt if rows are missing from it', async () => {
    const home = healthy()
    home.exec('delete from messages_fts_docsize where id > 20')
    home.close()
    const to = join(dirname(home.path), 'repaired.db')
    const { changes, left } = await repairHermes({ path: home.path, to, now: NOW })
    expect(changes).toEqual([{ kind: 'index-rebuilt', table: 'messages_fts' }])
    expect(left).toEqual([])
  })
})
