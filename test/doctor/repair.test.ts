import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { KnownError } from '../../packages/core/src/base/errors.ts'
import { sessionId } from '../../packages/core/src/base/ids.ts'
import { LIMITS, StoreFixture } from '../../packages/core/src/store/contract-suite/bench.ts'
import { openMemoryStore } from '../../packages/core/src/store/memory/open.ts'
import { diagnoseHermes } from '../../packages/server/src/migration/hermes/diagnose/diagnose.ts'
import { isFault } from '../../packages/server/src/migration/hermes/diagnose/diagnosis.ts'
import { isHandoff } from '../../packages/server/src/migration/hermes/diagnose/survey.ts'
import { exportHermes } from '../../packages/server/src/migration/hermes/export/export.ts'
import { handoffRow } from '../../packages/server/src/migration/hermes/export/row.ts'
import { repairHermes } from '../../packages/server/src/migration/hermes/repair/repair.ts'
import { renderRepair } from '../../packages/server/src/migration/hermes/report/repair-text.ts'
import { importLogs } from '../../packages/server/src/migration/logs/import.ts'
import { PROGRAM } from '../support/run-cli.ts'
import { generateHome } from './homes/generate.ts'
import { Chance } from './homes/random.ts'
import { SAMPLE_SCHEMAS, unpackSample } from './homes/sample-stores.ts'
import { bring } from './judges/bring.ts'
import { judgeRoundTrip } from './judges/judge-export.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-repair-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const PROCESSES_MS_MAX = 120_000

function fresh(name: string): { readonly path: string; readonly to: string } {
  const place = join(folder, name)
  mkdirSync(place, { recursive: true })
  return { path: join(place, 'state.db'), to: join(place, 'new', 'state.db') }
}

function hashOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

/** The error, and that neither the original nor the new place has changed by it. */
async function refusal({ path, to }: { path: string; to: string }): Promise<string> {
  const before = statSync(path).size > 1e9 ? '' : hashOf(path)
  const error = await repairHermes({ path, to }).then(
    () => null,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(KnownError)
  expect(before === '' ? '' : hashOf(path)).toBe(before)
  expect(existsSync(to)).toBe(false)
  const left = existsSync(join(to, '..')) ? readdirSync(join(to, '..')) : []
  expect(left).toEqual([])
  return (error as Error).message
}

const TABLES = `create table sessions (id text primary key, parent_session_id text, started_at real not null,
    ended_at real, end_reason text, model_config text);
  create table messages (id integer primary key autoincrement, session_id text not null, role text not null,
    content text, timestamp real not null, tool_calls text, tool_call_id text);
  insert into sessions values ('a', null, 1, 10, 'compression', null), ('b', 'a', 10, null, null, null);
  insert into messages (session_id, role, content, timestamp) values ('a', 'user', 'hello', 2),
    ('b', 'user', '[CONTEXT SUMMARY]: so far', 10.1);`
const LATE = `insert into messages (session_id, role, content, timestamp) values
  ('a', 'user', char(0) || 'json:[{"type":"text","text":"lost"}]', 20),
  ('a', 'user', cast(x'41ff8042' as text), 21);`

function make(path: string, sql: string): void {
  const database = new DatabaseSync(path)
  database.exec(sql)
  database.close()
}

describe('repairing a Hermes store', () => {
  it('writes to no existing file under a name that can be guessed', async () => {
    const place = fresh('stale-draft')
    make(place.path, TABLES)
    const planted = join(folder, 'stale-draft', 'new', `.state.db.${process.pid}.tmp`)
    mkdirSync(join(planted, '..'))
    writeFileSync(planted, 'planted')
    await repairHermes({ ...place, now: 5_000_000 })
    expect(readdirSync(join(planted, '..')).sort()).toEqual([basename(planted), 'state.db'])
    expect(readFileSync(planted, 'utf8')).toBe('planted')
    const database = new DatabaseSync(place.to, { readOnly: true })
    expect(database.prepare('select count(*) as rows from messages').get()).toEqual({ rows: 2 })
    database.close()
  })

  it('appends lost messages byte for byte, and moves the routes of an old home [S25]', async () => {
    const place = fresh('bytes')
    make(place.path, TABLES + LATE)
    mkdirSync(join(folder, 'bytes', 'sessions'))
    const routes = { 'agent:main:telegram:dm:1': { session_id: 'a', platform: 'telegram' } }
    writeFileSync(join(folder, 'bytes', 'sessions', 'sessions.json'), JSON.stringify(routes))
    const before = hashOf(place.path)
    const report = await repairHermes({ ...place, now: 5_000_000 })
    expect(hashOf(place.path)).toBe(before)
    expect(report.changes.map(({ kind }) => kind)).toEqual([
      ...['route-moved', 'row-appended', 'row-appended'],
    ])
    expect(report.left.map(({ kind }) => kind)).toEqual(['unreadable-text', 'unreadable-text'])
    const database = new DatabaseSync(place.to, { readOnly: true })
    const contents = database
      .prepare("select hex(cast(content as blob)) as h from messages where session_id = 'b'")
      .all()
    database.close()
    expect(contents.map((row) => String(row['h'])).slice(1)).toEqual([
      Buffer.from('\0json:[{"type":"text","text":"lost"}]').toString('hex').toUpperCase(),
      '41FF8042',
    ])
    expect(report.routingFile).toBe(`${place.to}.sessions.json`)
    expect(JSON.parse(readFileSync(`${place.to}.sessions.json`, 'utf8'))).toEqual({
      'agent:main:telegram:dm:1': { session_id: 'b', platform: 'telegram' },
    })
    expect(renderRepair(report)).not.toMatch(/\p{Cf}|(?!\n)\p{Cc}/u)
  })

  it('never replaces a file', async () => {
    const place = fresh('exists')
    make(place.path, TABLES + LATE)
    mkdirSync(join(place.to, '..'))
    writeFileSync(place.to, 'mine')
    await expect(repairHermes(place)).rejects.toThrow('already exists')
    expect(readFileSync(place.to, 'utf8')).toBe('mine')
    await expect(repairHermes({ ...place, to: place.path })).rejects.toThrow('already exists')
  })

  it('reads the content of a write-ahead log, and works without one', async () => {
    const writing = fresh('wal')
    const writer = new DatabaseSync(writing.path)
    writer.exec(`pragma journal_mode = wal; pragma wal_autocheckpoint = 0; ${TABLES}`)
    writer.exec('pragma wal_checkpoint(truncate)')
    writer.exec(LATE)
    const place = fresh('crashed')
    copyFileSync(writing.path, place.path)
    copyFileSync(`${writing.path}-wal`, `${place.path}-wal`)
    writer.close()
    expect((await repairHermes(place)).changes).toHaveLength(2)
    rmSync(`${place.path}-wal`)
    const alone = { ...place, to: join(folder, 'crashed', 'alone.db') }
    const { changes, remarks } = await repairHermes(alone)
    expect(changes).toEqual([])
    expect(remarks.join()).toContain('no -wal file')
  })

  it('refuses triggers and views that are not of Hermes, and ones that lie by its names', async () => {
    const lies = {
      strange: `create trigger lie after insert on messages begin delete from messages; end;`,
      lying: `create trigger messages_fts_insert after insert on messages begin delete from messages where id = 1; end;`,
      changing: `create trigger messages_fts_insert after insert on messages begin update messages set content = 'x' where id = 1; end;`,
      endless: `create view messages_fts_src as with recursive n(id) as (select 1 union all select id + 1 from n) select id from n;`,
    }
    for (const [name, sql] of Object.entries(lies)) {
      const place = fresh(name)
      make(place.path, TABLES + LATE + sql)
      expect(await refusal(place)).toMatch(/is none of Hermes|changed rows that were there/)
    }
  })

  it('refuses a file that is not a database, cut short, of another program, or damaged', async () => {
    const text = fresh('text')
    writeFileSync(text.path, 'dear diary\n'.repeat(999))
    expect(await refusal(text)).toContain('not an SQLite database')
    const foreign = fresh('foreign')
    make(foreign.path, 'create table moz_places (id integer primary key, url text)')
    expect(await refusal(foreign)).toContain('not one of Hermes')
    const sound = fresh('to-be-flipped')
    generateHome(3, join(folder, 'to-be-flipped'))
    const bytes = readFileSync(sound.path)
    const cut = fresh('cut')
    writeFileSync(cut.path, bytes.subarray(0, bytes.length / 2))
    expect(await refusal(cut)).toContain('cut short')
    for (let seed = 0; seed < 20; seed++) {
      const chance = new Chance(seed)
      const flipped = Buffer.from(bytes)
      for (let flip = chance.between(1, 8); flip > 0; flip--) {
        const at = chance.between(100, flipped.length - 1)
        flipped[at] = (flipped[at] ?? 0) ^ (1 << chance.between(0, 7))
      }
      const place = fresh(`flipped-${seed}`)
      writeFileSync(place.path, flipped)
      const outcome = await repairHermes(place).catch((error: unknown) => error)
      expect(hashOf(place.path)).toBe(createHash('sha256').update(flipped).digest('hex'))
      if (outcome instanceof Error) expect(outcome).toBeInstanceOf(KnownError)
      else expect((await diagnoseHermes(place.to)).profiles[0]?.store.kind).toBe('read')
    }
  })

  it('takes time in proportion to the rows of a sparse store, not to its ten gigabytes', async () => {
    const place = fresh('sparse')
    make(place.path, TABLES + LATE)
    truncateSync(place.path, 10 * 1024 ** 3)
    expect((await repairHermes(place)).changes).toHaveLength(2)
    expect(statSync(place.to).size).toBeLessThan(1e6)
    truncateSync(place.path, 0)
  })

  it('leaves of the two samples only the rewrite', async () => {
    for (const schema of SAMPLE_SCHEMAS) {
      const to = join(folder, 'samples', `${schema}.db`)
      const { left } = await repairHermes({ path: unpackSample(schema, folder), to })
      expect(left.map(({ kind }) => kind)).toEqual(['destructive-rewrite'])
    }
  })
})

describe('exporting to Hermes', () => {
  it('exports messages and compactions so that a new import is the same', async () => {
    const line = (uuid: string, role: string, text: string, more = {}) => ({
      ...{
        type: role,
        uuid,
        parentUuid: uuid === '1' ? null : String(Number(uuid) - 1),
        isSidechain: false,
        timestamp: '2026-01-01T00:00:00Z',
      },
      ...{ message: { role, id: uuid, content: [{ type: 'text', text }] }, ...more },
    })
    const log = join(folder, 'orchid.jsonl')
    const lines = [
      line('1', 'user', 'where is the orchid'),
      line('2', 'assistant', 'in the \0 greenhouse'),
      line('3', 'user', 'It was about an orchid.', { isCompactSummary: true }),
      line('4', 'user', 'thanks'),
      line('5', 'user', 'thanks'),
    ]
    writeFileSync(log, lines.map((one) => JSON.stringify(one)).join('\n'))
    const store = openMemoryStore()
    await importLogs({
      mask: String,
      ...{ format: 'claude-code', path: log, agent: 'nova', limits: LIMITS },
      ...{ host: { boot: 'boot', process: 1 }, target: { isDryRun: false, store } },
    })
    const session = await store.findSession(sessionId('orchid'))
    if (session === undefined) throw new Error('no session')
    const to = join(folder, 'native.db')
    expect(await judgeRoundTrip(store, session, to, Date.now())).toEqual([])
    const { profiles } = await diagnoseHermes(to)
    expect(profiles[0]?.findings.filter(isFault)).toEqual([])
    const database = new DatabaseSync(to, { readOnly: true })
    const all = (sql: string) => database.prepare(sql).all()
    expect(all('pragma foreign_key_check')).toEqual([])
    expect(all('pragma integrity_check').map((row) => row['integrity_check'])).toEqual(['ok'])
    const words = "messages_fts match 'orchid'"
    expect(all(`select rowid from messages_fts where ${words}`)).toHaveLength(2)
    const live = all('select content from messages where active = 1 order by id')
    database.close()
    expect(live.map((row) => row['content'])).toEqual([
      '[CONTEXT COMPACTION \u2014 REFERENCE ONLY] It was about an orchid.',
      ...['thanks', 'thanks'],
    ])
    // Beside what it was made from it is another conversation, and changes nothing there.
    const { tail } = session
    const beside = await bring(to, store)
    expect(beside.profiles[0]?.conversations[0]?.outcome).toBe('taken')
    expect((await store.findSession(session.id))?.tail).toBe(tail)
  })

  it('exports a handoff whole, in a form that Hermes recognizes', () => {
    const user = { role: 'user', parts: [{ type: 'text', text: 'find the orchid' }] } as const
    const body = {
      ...{ version: 1, by: 'model', covers: 3, kept: 1, compactions: 1, summary: 'It is green.' },
      ...{
        tasks: [],
        files: [],
        ledger: [],
        preserved: [{ message: user, number: 1, state: 'open' }],
      },
    }
    const entry = { kind: 'compaction', meta: {}, at: 1_001, body: JSON.stringify(body) }
    const row = handoffRow(entry as never)
    expect(row).toMatchObject({ role: 'user', _compressed_summary: 1 })
    expect(Math.floor(Number(row?.['timestamp']) * 1_000)).toBe(1_001)
    const text = String(row?.['content'])
    expect(isHandoff({ role: 'user', text, isSummary: false })).toBe(true)
    expect(text).toContain('find the orchid')
    expect(text).toContain('It is green.')
  })

  it('exports pictures whole from every place in which they are kept', async () => {
    const url = `data:image/png;base64,${Buffer.alloc(6_000, 7).toString('base64')}`
    const parts = [{ type: 'image_url', image_url: { url } }]
    const content = `\0json:${JSON.stringify(parts)}`
    const place = fresh('pictures')
    make(place.path, TABLES)
    const database = new DatabaseSync(place.path)
    const add = database.prepare(
      "insert into messages (session_id, role, content, timestamp) values ('b', 'user', ?, ?)",
    )
    add.run(content, 30)
    add.run(content, 40)
    database.close()
    const store = openMemoryStore()
    await bring(place.path, store)
    const id = sessionId('a')
    const range = { sessionId: id, from: 1 as never, to: 9 as never }
    const entries = await store.readEntries(range)
    const used = entries.flatMap((entry) => (entry.kind === 'input' ? entry.meta.blobs : []))
    expect(used).toHaveLength(2)
    expect(new Set(used).size).toBe(1)
    expect(JSON.stringify(entries)).not.toContain('BwcHBwcHBwc')
    expect(await store.findBlob({ sessionId: id, hash: used[0] ?? '' })).toMatchObject({ uses: 2 })
    expect(await store.verify({})).toEqual([])
    const session = await store.findSession(id)
    if (session === undefined) throw new Error('no session')
    const to = join(folder, 'pictures-back.db')
    expect(await judgeRoundTrip(store, session, to, Date.now())).toEqual([])
    const back = new DatabaseSync(to, { readOnly: true })
    const rows = back.prepare('select content from messages where active = 1 order by id').all()
    back.close()
    expect(rows.at(-1)?.['content']).toBe(content)
  })

  it('never replaces a file, and names a session that does not exist', async () => {
    const store = openMemoryStore()
    const fixture = await StoreFixture.open(store)
    const to = join(folder, 'mine.db')
    writeFileSync(to, 'mine')
    const unshelve = async <Value>(message: Value) => message
    const request = { reads: store, to, unshelve }
    await expect(exportHermes({ ...request, sessionId: fixture.lease.sessionId })).rejects.toThrow(
      'already exists',
    )
    await expect(exportHermes({ ...request, sessionId: sessionId('nobody') })).rejects.toThrow(
      'no such session',
    )
    expect(readFileSync(to, 'utf8')).toBe('mine')
  })
})

describe('the commands', () => {
  function run(...words: readonly string[]) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...words], {
      encoding: 'utf8',
    })
    return { status, stdout, stderr }
  }

  it(
    'repair, bring and write back, each with its sum and its exit code',
    () => {
      const place = fresh('command')
      make(place.path, TABLES + LATE.replace(/,\s*\('a', 'user', cast[^;]*/, ''))
      const repaired = run('doctor', 'hermes', place.path, '--repair-to', place.to, '--json')
      expect({ status: repaired.status, stderr: repaired.stderr }).toEqual({
        status: 0,
        stderr: '',
      })
      expect(JSON.parse(repaired.stdout)).toMatchObject({ format: 'throughline-repair-hermes' })
      const again = run('doctor', 'hermes', place.path, '--repair-to', place.to)
      expect(again).toMatchObject({ status: 2, stderr: expect.stringContaining('already exists') })
      const store = join(folder, 'command.db')
      expect(run('import', 'hermes', place.to, '--store', store).status).toBe(0)
      const to = join(folder, 'command', 'back.db')
      const back = run('export', 'a', '--to', 'hermes', '-o', to, '--store', store, '--json')
      expect({ status: back.status, stderr: back.stderr }).toEqual({ status: 0, stderr: '' })
      expect(JSON.parse(back.stdout)).toMatchObject({ id: 'a', to })
      for (const file of [place.to, to]) expect(statSync(file).mode & 0o777).toBe(0o600)
      expect(run('export', 'a', '--to', 'hermes', '--store', store).status).toBe(2)
    },
    PROCESSES_MS_MAX,
  )
})
