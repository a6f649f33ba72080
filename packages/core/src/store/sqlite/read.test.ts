import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, describe, expect, it } from 'vitest'
import type { ReadStore, Store } from '../contract.ts'
import { StoreFixture } from '../contract-suite/bench.ts'
import { openSqliteStore } from './open.ts'
import { readSqliteStore } from './read.ts'

const opened: (Store | ReadStore)[] = []
const folders: string[] = []

afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()))
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function newPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-looked-at-'))
  folders.push(folder)
  return join(folder, 'store.db')
}

async function open(path: string): Promise<Store> {
  const store = await openSqliteStore({ path })
  opened.push(store)
  return store
}

async function look(path: string): Promise<ReadStore> {
  const store = await readSqliteStore(path)
  opened.push(store)
  return store
}

/** Names, bytes and times of everything in the folder; only for files that are not open. */
function traces(path: string): readonly string[] {
  const folder = dirname(path)
  return readdirSync(folder).map((name) => {
    const file = join(folder, name)
    const stat = statSync(file)
    const bytes = stat.isDirectory() ? '' : readFileSync(file)
    return `${name} ${stat.mtimeMs} ${createHash('sha256').update(bytes).digest('hex')}`
  })
}

/** All three files as a killed process leaves them, copied by a process that takes no locks. */
function copyOfLive(path: string): string {
  const to = newPath()
  for (const end of ['', '-wal', '-shm']) execFileSync('cp', [`${path}${end}`, `${to}${end}`])
  return to
}

async function lookEverywhere(store: ReadStore, fixture: StoreFixture): Promise<number> {
  const { id } = fixture
  expect(await store.verify({})).toEqual([])
  const entries = await store.readEntries({ sessionId: id, from: 1 as never, to: 999 as never })
  let lines = 0
  for await (const _ of store.exportSession(id)) lines++
  expect(lines).toBeGreaterThan(entries.length)
  const { hits } = await store.search({ sessionId: id, text: 'hello', limit: 5, neighbours: 1 })
  expect(hits.length).toBeGreaterThan(0)
  expect((await store.readAudit({ after: 0, limit: 1_000 })).length).toBeGreaterThan(0)
  await store.listTokens()
  return entries.length
}

describe('a store opened read-only', () => {
  it('refuses a pipe in the place of the store, without waiting for its other end', async () => {
    const path = newPath()
    execFileSync('mkfifo', [path])
    await expect(look(path)).rejects.toThrow('it is a pipe')
    await expect(open(path)).rejects.toThrow('it is a pipe')
  })

  it('reads an idle store and leaves every byte and file name unchanged', async () => {
    const path = newPath()
    const store = await open(path)
    const fixture = await StoreFixture.open(store)
    await fixture.exchange('hello', 'hi')
    await store.close()
    const before = traces(path)
    const only = await look(path)
    expect(await lookEverywhere(only, fixture)).toBe(3)
    expect('admit' in only).toBe(false)
    await only.close()
    expect(traces(path)).toEqual(before)
  })

  it('reads what a killed process left in its WAL without changing it', async () => {
    const path = newPath()
    const fixture = await StoreFixture.open(await open(path))
    await fixture.exchange('hello', 'hi')
    const copy = copyOfLive(path)
    const before = traces(copy)
    expect(before.length).toBe(3)
    const only = await look(copy)
    expect(await lookEverywhere(only, fixture)).toBe(3)
    await only.close()
    expect(traces(copy)).toEqual(before)
  })

  it('reads a store beside which a process that was killed while it opened left the start of a WAL', async () => {
    const path = newPath()
    const store = await open(path)
    const fixture = await StoreFixture.open(store)
    await fixture.exchange('hello', 'hi')
    const header = readFileSync(`${copyOfLive(path)}-wal`).subarray(0, 32)
    await store.close()
    writeFileSync(`${path}-wal`, header)
    writeFileSync(`${path}-shm`, Buffer.alloc(32_768))
    const before = traces(path)
    const only = await look(path)
    expect(await lookEverywhere(only, fixture)).toBe(3)
    await only.close()
    expect(traces(path)).toEqual(before)
  })

  it('sees what other processes commit as they open, write and close', async () => {
    const path = newPath()
    const first = await open(path)
    const fixture = await StoreFixture.open(first)
    await fixture.exchange('hello', 'hi')
    await first.close()
    const only = await look(path)
    expect(await lookEverywhere(only, fixture)).toBe(3)

    const second = await open(path)
    const title = async () => (await only.findSession(fixture.id))?.title
    for (const text of ['a', 'b', 'c']) {
      await second.setTitle({ sessionId: fixture.id, title: text })
      expect(await title()).toBe(text)
    }
    await second.close()
    expect(await title()).toBe('c')
    const third = await open(path)
    await third.setTitle({ sessionId: fixture.id, title: 'd' })
    await third.close()
    expect(await title()).toBe('d')
  })

  it('blocks no writer and is blocked by none', async () => {
    const path = newPath()
    const fixture = await StoreFixture.open(await open(path))
    const only = await look(path)
    const writing = Array.from({ length: 15 }, (_, index) => fixture.admit(`message ${index}`))
    const reading = Array.from({ length: 15 }, () =>
      only.listMail({ sessionId: fixture.id, limit: 99 }),
    )
    await Promise.all([...writing, ...reading])
    expect((await only.listMail({ sessionId: fixture.id, limit: 99 })).length).toBe(15)
  })

  it('refuses a missing or foreign file or another schema, and creates nothing', async () => {
    const path = newPath()
    await expect(readSqliteStore(path)).rejects.toThrow('no such file')
    writeFileSync(path, '')
    await expect(readSqliteStore(path)).rejects.toThrow('it is empty')
    rmSync(path)
    const other = new DatabaseSync(path)
    other.exec('create table theirs (a)')
    other.close()
    await expect(readSqliteStore(path)).rejects.toThrow('another program')
    rmSync(path)
    await (await open(path)).close()
    const hand = new DatabaseSync(path)
    hand.exec('pragma user_version = 1')
    hand.close()
    const before = traces(path)
    await expect(readSqliteStore(path)).rejects.toThrow('schema 1')
    expect(traces(path)).toEqual(before)
  })

  it('refuses a WAL without its index, because creating one would be a write', async () => {
    const path = newPath()
    await StoreFixture.open(await open(path))
    const copy = copyOfLive(path)
    rmSync(`${copy}-shm`)
    await expect(readSqliteStore(copy)).rejects.toThrow('no index')
    expect(readdirSync(dirname(copy)).sort()).toEqual(['store.db', 'store.db-wal'])
  })
})
