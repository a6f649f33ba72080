import { createHash } from 'node:crypto'
import {
  copyFileSync,
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
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openMemoryStore } from '../../packages/core/src/store/memory/open.ts'
import { diagnoseHermes } from '../../packages/server/src/migration/hermes/diagnose/diagnose.ts'
import type { Diagnosis } from '../../packages/server/src/migration/hermes/diagnose/diagnosis.ts'
import { HermesStoreError } from '../../packages/server/src/migration/hermes/read/errors.ts'
import { openReadOnly } from '../../packages/server/src/migration/hermes/read/open.ts'
import { renderHtml } from '../../packages/server/src/migration/hermes/report/html.ts'
import { renderMarkdown } from '../../packages/server/src/migration/hermes/report/markdown.ts'
import { renderText } from '../../packages/server/src/migration/hermes/report/text.ts'
import { renderImport } from '../../packages/server/src/migration/import-text.ts'
import { runCli } from '../support/run-cli.ts'
import { generateHome } from './homes/generate.ts'
import { Chance } from './homes/random.ts'
import { bring } from './judges/bring.ts'

/** Files that are not what they should be get a verdict: no crash, no write, no side file. */
const folder = mkdtempSync(join(tmpdir(), 'throughline-hostile-'))
const home = join(folder, 'home')
const sound = join(home, 'state.db')

// Where copies are made: it must be empty again whenever a verdict is given.
const scratch = join(folder, 'scratch')

beforeAll(() => {
  mkdirSync(scratch)
  vi.stubEnv('TMPDIR', scratch)
  generateHome(3, home)
})
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

function fresh(name: string): string {
  const place = join(folder, name)
  mkdirSync(place, { recursive: true })
  return join(place, 'state.db')
}

/** Every file below a folder with its bytes and times. */
function traceOf(place: string): string[] {
  return readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      const hash = createHash('sha256').update(readFileSync(path)).digest('hex')
      return `${path} ${hash} ${statSync(path).mtimeMs}`
    })
    .sort()
}

async function examine(path: string): Promise<Diagnosis['profiles'][number]['store']> {
  const before = traceOf(join(path, '..'))
  const diagnosis = await diagnoseHermes(path)
  expect(traceOf(join(path, '..'))).toEqual(before)
  expect(readdirSync(scratch)).toEqual([])
  for (const render of [renderText, renderMarkdown, renderHtml])
    expect(render(diagnosis)).not.toBe('')
  const [profile] = diagnosis.profiles
  if (profile === undefined) throw new Error('no profile')
  return profile.store
}

function make(path: string, sql: string): void {
  const database = new DatabaseSync(path)
  database.exec(sql)
  database.close()
}

const TABLES = `create table sessions (id text primary key, started_at real not null);
  create table messages (id integer primary key, session_id text, role text, content, timestamp real)`

describe('a hostile file', () => {
  it('that is not a database is reported as such', async () => {
    const path = fresh('text')
    writeFileSync(path, 'dear diary\n'.repeat(1_000))
    expect(await examine(path)).toMatchObject({ kind: 'unreadable', verdict: 'not-a-database' })
  })

  it('that is empty is reported as such', async () => {
    const path = fresh('empty')
    writeFileSync(path, '')
    expect(await examine(path)).toMatchObject({ verdict: 'empty' })
  })

  it('that is missing is reported as such', async () => {
    expect(await examine(fresh('missing'))).toMatchObject({ verdict: 'missing' })
    await expect(diagnoseHermes(join(folder, 'missing'))).rejects.toThrow('no state.db')
  })

  it('that is truncated at any place is reported as damaged', async () => {
    const size = statSync(sound).size
    for (const share of [0.02, 0.3, 0.6, 0.99]) {
      const path = fresh(`cut-${share}`)
      copyFileSync(sound, path)
      truncateSync(path, Math.floor(size * share))
      expect(await examine(path)).toMatchObject({ kind: 'unreadable', verdict: 'damaged' })
    }
  })

  it('with flipped bits is read or refused', async () => {
    const bytes = readFileSync(sound)
    const kinds = new Set<string>()
    for (let seed = 0; seed < 150; seed++) {
      const chance = new Chance(seed)
      const flipped = Buffer.from(bytes)
      for (let flip = chance.between(1, 8); flip > 0; flip--) {
        // Half of them where they hurt: in the headers of pages.
        const page = chance.between(0, flipped.length / 4_096 - 1) * 4_096
        const at = chance.holds(0.5)
          ? page + chance.between(0, 120)
          : chance.between(16, flipped.length - 1)
        flipped[at] = (flipped[at] ?? 0) ^ (1 << chance.between(0, 7))
      }
      const path = fresh('flipped')
      writeFileSync(path, flipped)
      kinds.add((await examine(path)).kind)
    }
    expect([...kinds].sort()).toEqual(['read', 'unreadable'])
  })

  it('of another program is reported as foreign', async () => {
    const path = fresh('foreign')
    make(path, 'create table moz_places (id integer primary key, url text)')
    expect(await examine(path)).toMatchObject({ verdict: 'foreign' })
    const half = fresh('half')
    make(
      half,
      'create table sessions (id text, started_at real); create table messages (id integer)',
    )
    expect(await examine(half)).toMatchObject({ verdict: 'foreign' })
  })

  it('with content in its write-ahead log is read whole, from a copy', async () => {
    const path = fresh('wal')
    const writer = new DatabaseSync(path)
    writer.exec(`pragma journal_mode = wal; pragma wal_autocheckpoint = 0; ${TABLES}`)
    writer.exec(
      "insert into sessions values ('s', 1); insert into messages values (1, 's', 'user', 'hi', 2)",
    )
    // Copied from under the writer, as a crash leaves it.
    const crashed = fresh('crashed')
    copyFileSync(path, crashed)
    copyFileSync(`${path}-wal`, `${crashed}-wal`)
    writer.close()
    expect(await examine(crashed)).toMatchObject({ kind: 'read', rows: 1 })
    rmSync(`${crashed}-wal`)
    expect(await examine(crashed)).toMatchObject({ kind: 'unreadable', verdict: 'foreign' })
  })

  it('whose last checkpoint was cut off is read whole, by its log', async () => {
    const path = fresh('checkpoint')
    const writer = new DatabaseSync(path)
    writer.exec(`pragma journal_mode = wal; pragma wal_autocheckpoint = 0; ${TABLES};
      insert into sessions values ('s', 1); pragma wal_checkpoint(truncate)`)
    for (let id = 1; id <= 50; id++) {
      writer.exec(`insert into messages values (${id}, 's', 'user', '${'x'.repeat(900)}', ${id})`)
    }
    const before = readFileSync(path)
    const cut = fresh('cut-checkpoint')
    copyFileSync(`${path}-wal`, `${cut}-wal`)
    writer.exec('pragma wal_checkpoint(truncate)')
    // Of what was to be folded in, the first page alone has arrived.
    const first = readFileSync(path).subarray(0, 4_096)
    writeFileSync(cut, Buffer.concat([first, before.subarray(4_096)]))
    writer.close()
    expect(await examine(cut)).toMatchObject({ kind: 'read', rows: 50 })
  })

  it('that is written to all the time is read as it was at one moment', async () => {
    const path = fresh('busy')
    const writer = new DatabaseSync(path)
    writer.exec(`pragma journal_mode = wal; pragma synchronous = off; ${TABLES}`)
    // Large enough for a write to happen while it is copied.
    for (let row = 0; row < 100; row++) {
      writer.exec(`insert into messages (session_id, content) values ('s', zeroblob(200000))`)
    }
    for (const checkpoint of [0, 40]) {
      writer.exec(`pragma wal_autocheckpoint = ${checkpoint}`)
      let isOver = false
      const write = () => {
        if (isOver) return
        writer.exec(`insert into messages (session_id, content) values ('s', hex(zeroblob(90)))`)
        setTimeout(write)
      }
      write()
      for (let times = 0; times < 5; times++) {
        const opened = await openReadOnly(path).catch((error: HermesStoreError) => error)
        if (opened instanceof HermesStoreError) {
          // Between two checkpoints there may be no time for a copy; without any there is.
          expect([checkpoint, opened.facts.verdict]).toEqual([40, 'changing'])
          continue
        }
        const check = opened.database.prepare('pragma integrity_check').get()
        const ids = opened.database.prepare('select count(*) - max(id) as gaps from messages').get()
        await opened.close()
        expect({ ...check, ...ids }).toEqual({ integrity_check: 'ok', gaps: 0 })
      }
      isOver = true
    }
    writer.close()
  })

  it('with a hot journal is read as it was before the torn commit', async () => {
    const path = fresh('journal')
    make(
      path,
      `${TABLES}; insert into sessions values ('s', 1); insert into messages values (1, 's', 'user', 'hi', 2)`,
    )
    const writer = new DatabaseSync(path)
    writer.exec('pragma cache_size = 1; pragma synchronous = off; begin')
    for (let id = 2; id < 400; id++) {
      writer.exec(`insert into messages values (${id}, 's', 'user', '${'x'.repeat(900)}', ${id})`)
    }
    const torn = fresh('torn')
    copyFileSync(path, torn)
    copyFileSync(`${path}-journal`, `${torn}-journal`)
    writer.exec('rollback')
    writer.close()
    expect(await examine(torn)).toMatchObject({ kind: 'read', rows: 1 })
  })

  it('of ten sparse gigabytes takes as long as its rows take', async () => {
    const place = fresh('sparse')
    make(place, `${TABLES}; insert into sessions values ('s', 1)`)
    truncateSync(place, 10 * 1024 ** 3)
    const before = process.cpuUsage()
    const { profiles } = await diagnoseHermes(place)
    expect(profiles[0]?.store).toMatchObject({ kind: 'read', sessions: 1 })
    const { user, system } = process.cpuUsage(before)
    // Reading ten gigabytes takes several seconds of it.
    expect((user + system) / 1_000).toBeLessThan(2_000)
    expect(readdirSync(join(folder, 'sparse'))).toEqual(['state.db'])
  })

  it('whose messages are a view, or computed, runs nothing of its own', async () => {
    const view = fresh('view')
    make(
      view,
      `create table sessions (id text primary key, started_at real);
       create view messages as with recursive n(id) as (select 1 union all select id + 1 from n)
         select id, 's' as session_id, 'user' as role, '' as content, 1.0 as timestamp from n`,
    )
    expect(await examine(view)).toMatchObject({ verdict: 'foreign' })
    const computed = fresh('computed')
    make(
      computed,
      `create table sessions (id text primary key, started_at real);
       create table messages (id integer primary key, session_id text, role text, timestamp real,
         content text as (hex(zeroblob(500000000))))`,
    )
    expect(await examine(computed)).toMatchObject({ verdict: 'foreign' })
  })

  it('whose triggers lie is read as it is', async () => {
    const path = fresh('trigger')
    make(
      path,
      `${TABLES}; insert into sessions values ('s', 1); insert into messages values (1, 's', 'user', 'hi', 2);
       create trigger lie after insert on messages begin delete from messages; end;
       create table gateway_routing (a); create view compression_locks as select 's' as session_id, 9e99 as expires_at`,
    )
    expect(await examine(path)).toMatchObject({ kind: 'read', rows: 1 })
  })

  it('with any type in any column is read', async () => {
    const path = fresh('types')
    make(
      path,
      `${TABLES}; insert into sessions values (x'ff00', 'soon'), ('s', 1), (NULL, 9e999);
       insert into messages values (1, 's', x'ff', x'fffe', 'never'), (2, 7, NULL, 3.5, 1e999),
         (9007199254740993, 's', 'user', NULL, -5), (9223372036854775807, 's', 'assistant', 5, 9e15)`,
    )
    expect(await examine(path)).toMatchObject({ kind: 'read', rows: 4 })
  })

  it('with NUL, json and invalid UTF-8 in its texts is read and shown as text', async () => {
    const path = fresh('bytes')
    make(
      path,
      `create table sessions (id text primary key, started_at real, ended_at real, end_reason text);
       create table messages (id integer primary key, session_id text, role text, content, timestamp real);
       insert into sessions values ('<script>alert(1)</script>', 1, 2, 'compression');
       insert into messages values
         (1, '<script>alert(1)</script>', 'user', char(0) || 'json:[{"type":"text"}]', 3),
         (2, '<script>alert(1)</script>', 'user', cast(x'41ff8042' as text), 4),
         (3, '<script>alert(1)</script>', 'user', char(27) || '[2J' || char(8238) || '</code><img src=x onerror=alert(1)>', 5)`,
    )
    await examine(path)
    const diagnosis = await diagnoseHermes(path)
    const html = renderHtml(diagnosis)
    expect(html).not.toMatch(/<script|<img|onerror=alert\(1\)>/)
    expect(html).toContain('A��B')
    const unseen = /\p{Cf}|(?!\n)\p{Cc}/u
    for (const text of [html, renderText(diagnosis), renderMarkdown(diagnosis)]) {
      expect(text).not.toMatch(unseen)
    }
    const outsideCode = renderMarkdown(diagnosis).replace(/`[^`\n]*`/g, '')
    expect(outsideCode).not.toMatch(/(?<!\\)</)
  })

  it('whose sessions are each other’s parents is judged', async () => {
    const path = fresh('circle')
    make(
      path,
      `create table sessions (id text primary key, parent_session_id text, started_at real, ended_at real, end_reason text);
       create table messages (id integer primary key, session_id text, role text, content, timestamp real);
       insert into sessions values ('a', 'b', 1, 2, 'compression'), ('b', 'a', 1, 2, 'compression'), ('c', 'c', 1, 2, 'compression')`,
    )
    expect(await examine(path)).toMatchObject({ kind: 'read', sessions: 3 })
  })

  it('of a sound home leaves every byte of the home as it was', async () => {
    const before = traceOf(home)
    await diagnoseHermes(home)
    expect(traceOf(home)).toEqual(before)
  })
})

describe('a home of several profiles', () => {
  const manyProfiles = (name: string) => {
    const place = join(folder, name)
    generateHome(5, place)
    generateHome(6, join(place, 'profiles', 'loki'))
    mkdirSync(join(place, 'profiles', 'broken'), { recursive: true })
    writeFileSync(join(place, 'profiles', 'broken', 'state.db'), 'no')
    return place
  }

  it('is examined profile by profile, and one bad store affects no other', async () => {
    const { profiles } = await diagnoseHermes(manyProfiles('many'))
    expect(profiles.map(({ name, store }) => [name, store.kind])).toEqual([
      ['default', 'read'],
      ['broken', 'unreadable'],
      ['loki', 'read'],
    ])
  })

  it('is imported profile by profile, and one bad store holds back no other', async () => {
    const report = await bring(manyProfiles('many-brought'), openMemoryStore())
    expect(report.profiles.map(({ name }) => name)).toEqual(['default', 'loki'])
    expect(report.profiles.every(({ conversations }) => conversations.length > 0)).toBe(true)
    expect(report.unread.map(({ name }) => name)).toEqual(['broken'])
    expect(renderImport(report)).toMatch(/^Profile broken .* was not imported/m)
  })
})

describe('a log of another program', () => {
  it('cannot write to the terminal through its titles, ids and file names, nor add lines', async () => {
    const logs = join(folder, 'logs')
    mkdirSync(logs)
    const evil = '\u001b]0;owned\u0007\u009b2J\u202e'
    const id = `a${evil}\n  forged  new  9 lines: 9 messages`
    const said = { type: 'input_text', text: `Two words ${evil} here` }
    const timestamp = '2026-11-16T13:52:08.293Z'
    const lines = [
      { timestamp, type: 'session_meta', payload: { id, timestamp, cwd: '/' } },
      {
        ...{ timestamp, type: 'response_item' },
        payload: { type: 'message', role: 'user', content: [said] },
      },
    ]
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
    writeFileSync(join(logs, 'one.jsonl'), text)
    writeFileSync(join(logs, `two${evil}.jsonl`), 'no log')
    const { stdout, stderr } = await runCli(['import', 'codex', logs, '--dry-run'], {
      cwd: logs,
      env: { HOME: logs, XDG_STATE_HOME: logs },
    })
    expect(stdout).toContain('Two words')
    expect(stdout).toMatch(/two.*unreadable/)
    expect(stdout).not.toMatch(/^ {2}forged/m)
    expect(stdout + stderr).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u)
  })
})
