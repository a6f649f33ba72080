import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, describe, expect, it } from 'vitest'
import { mailNumber, sessionId } from '../../../packages/core/src/base/ids.ts'
import { create, LIMITS } from '../../../packages/core/src/store/contract-suite/bench.ts'
import { openSqliteStore } from '../../../packages/core/src/store/sqlite/open.ts'
import { SQLITE_SCHEMA } from '../../../packages/core/src/store/sqlite/schema.ts'
import { SQLITE_TO_9 } from '../../support/earlier-schemas.ts'
import type { Place } from '../place.ts'
import { checkFilled, fill, migrateThroughDeaths, sqliteSchema, start, using } from './dying.ts'

/** Processes that die while files are copied, checkpointed or migrated. */
const KEEPER = join(import.meta.dirname, '..', 'children', 'keeper.ts')
const id = sessionId('kept')
const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

async function newStore(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-files-'))
  folders.push(folder)
  const path = join(folder, 'store.db')
  const limits = { ...LIMITS, laneMailMax: 1_000_000, sourceMailMax: 1_000_000 }
  await using({ kind: 'sqlite', path }, (store) => create(store, { id, limits }))
  return path
}

/** Kills a process `delayMs` after it printed a line for the nth time. */
async function killAt(child: ChildProcess, nth: number, delayMs: number): Promise<void> {
  const ended = once(child, 'exit')
  let lines = 0
  await new Promise<void>((resolve) => {
    child.stdout?.on('data', (data) => {
      lines += String(data).split('\n').length - 1
      if (lines >= nth) resolve()
    })
    child.once('exit', () => resolve())
  })
  await new Promise((resolve) => setTimeout(resolve, delayMs))
  child.kill('SIGKILL')
  expect((await ended)[1]).toBe('SIGKILL')
}

/** An incomplete last line was being written when the process was killed: not acknowledged. */
function readAcks(files: readonly string[]): readonly string[] {
  return files
    .filter((file) => existsSync(file))
    .flatMap((file) => readFileSync(file, 'utf8').split('\n').slice(0, -1))
}

/** Everything acknowledged is there under its number, and all chains check. */
async function checkKept(path: string, files: readonly string[]): Promise<number> {
  const acks = readAcks(files)
  return await using({ kind: 'sqlite', path }, async (store) => {
    const keys = new Map<number, string | null>()
    for (let after = mailNumber(0); ; ) {
      const page = await store.listMail({ sessionId: id, after, limit: 50 })
      for (const { number, key } of page) keys.set(number, key)
      const last = page.at(-1)
      if (last === undefined) break
      after = last.number
    }
    const lost = acks.filter((line) => {
      const [number, key] = line.split(' ')
      return keys.get(Number(number)) !== key
    })
    expect(lost).toEqual([])
    expect(await store.verify({})).toEqual([])
    return acks.length
  })
}

/** After that many, the expectation after the loop reports what was missing. */
const ROUNDS_MAX = 40

describe('kill -9 while the files of a store are worked on', () => {
  it('a process that dies while it empties the WAL loses nothing acknowledged [I1, fault 16]', async () => {
    const path = await newStore()
    const files: string[] = []
    // A slow disk acknowledges little before each kill.
    const isEmpty = () => readAcks(files).length <= 20
    for (let round = 0; round < 2 || (isEmpty() && round < ROUNDS_MAX); round++) {
      const acks = join(dirname(path), `acks-${round}`)
      files.push(acks)
      await killAt(start(KEEPER, [path, acks, `r${round}`, 'checkpoint']), 3, round)
    }
    expect(await checkKept(path, files)).toBeGreaterThan(20)
  }, 120_000)

  it('a process that dies while it makes a backup leaves the store whole and no half copy under its name [fault 16]', async () => {
    const path = await newStore()
    const files: string[] = []
    const target = join(dirname(path), 'copy')
    let halves = 0
    // A kill that comes too late or too early shows nothing; try another.
    const isEmpty = () => halves === 0 || readAcks(files).length <= 10
    for (let round = 0; round < 2 || (isEmpty() && round < ROUNDS_MAX); round++) {
      const acks = join(dirname(path), `acks-${round}`)
      files.push(acks)
      const child = start(KEEPER, [path, acks, `r${round}`, 'backup', `${target}-${round}`])
      await killAt(child, 2, 4 * (round % 5))
      const names = readdirSync(dirname(path)).filter((name) => name.startsWith('copy-'))
      halves += names.filter((name) => name.endsWith('.new')).length
      for (const name of names.filter((each) => !/\.|-wal$|-shm$/.test(each))) {
        const copy = await openSqliteStore({ path: join(dirname(path), name) })
        expect(await copy.verify({})).toEqual([])
        await copy.close()
      }
    }
    expect(await checkKept(path, files)).toBeGreaterThan(10)
    expect(halves).toBeGreaterThan(0)

    // The next backup to the same name removes what the killed one left.
    const drafts = () => readdirSync(dirname(path)).filter((name) => name.endsWith('.new'))
    const [half = ''] = drafts()
    const store = await openSqliteStore({ path })
    await store.backup(join(dirname(path), half.replace(/\..*/, '')))
    await store.close()
    expect(drafts()).not.toContain(half)
  }, 120_000)
})

const SQLITE_AS_IT_WAS = `${SQLITE_TO_9}
  drop table word_page; drop table passage_block; alter table indexed drop column state;
  create virtual table entry_words using fts5 (words, content = '', tokenize = 'ascii');
  drop table draft; drop table schedule; drop table note; drop table token; drop index attempt_at;
  alter table session drop column title; alter table session drop column title_salt;
  alter table session drop column scope; alter table operation drop column requested_by;
  alter table attempt drop column cached_tokens;
  alter table attempt drop column cost; alter table attempt drop column host;
  create unique index operation_running on operation (session) where state = 'running';
  create unique index audit_phase on audit (operation, phase) where operation is not null;
  pragma user_version = 1;`

describe('kill -9 during a migration', () => {
  it('leaves a SQLite file in its old shape or in the new one, with everything in it [I9, fault 17]', async () => {
    const path = await newStore()
    const place: Place = { kind: 'sqlite', path }
    const fixture = await using(place, fill)
    const old = new DatabaseSync(path, { timeout: 2_000 })
    old.exec(SQLITE_AS_IT_WAS)
    old.close()
    await migrateThroughDeaths(place, async () => sqliteSchema(path))
    await using(place, (store) => checkFilled(store, fixture))
    expect(sqliteSchema(path)).toBe(SQLITE_SCHEMA)
  })

  it('of a new store leaves one that is empty, or whole [I9, fault 17]', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'throughline-files-'))
    folders.push(folder)
    const path = join(folder, 'new.db')
    const file: Place = { kind: 'sqlite', path }
    await migrateThroughDeaths(file, async () => sqliteSchema(path), 0)
    await using(file, async (store) => checkFilled(store, await fill(store)))
  })
})
