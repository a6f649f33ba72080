import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { byHand, sqlitePlace } from '../../../../../test/support/sqlite-place.ts'
import { entryNumber } from '../../base/ids.ts'
import { StoreFixture, said } from '../contract-suite/bench.ts'
import { readAnchor, removeAnchor } from '../integrity/anchor.ts'
import { readSqliteStore } from './read.ts'

const { newPath, open } = sqlitePlace()

const UNGUARDED = `drop trigger entry_changes_by_erasure_only; drop trigger entry_is_never_deleted`
const DAMAGED = { code: 'damaged-row', retryable: false }

/** Two sessions with three entries and one waiting message each; the first is damaged by hand. */
async function harmed(harm: string) {
  const path = newPath()
  const store = await open(path)
  const [fixture, other] = [await StoreFixture.open(store), await StoreFixture.open(store)]
  for (const each of [fixture, other]) {
    await each.exchange('hi', 'hello')
    await store.setTitle({ sessionId: each.id, title: 'Greetings' })
    await each.admit(said('waits'), { key: `key of ${each.id}` })
  }
  byHand(path, `${UNGUARDED}; ${harm}`)
  return { store, fixture, other }
}

function replaceByPipe(file: string): void {
  rmSync(file)
  execFileSync('mkfifo', [file])
}

const whole = ({ id: sessionId }: StoreFixture) =>
  ({ sessionId, from: entryNumber(1), to: entryNumber(99) }) as const

describe('damaged rows are never returned as if they were intact', () => {
  it.each([
    `update entry set body = replace(body, 'hello', 'jello') where id >> 31 = 1`,
    `update entry set tokens = tokens + 1 where id >> 31 = 1 and id & 3 = 2`,
    `delete from entry where id >> 31 = 1 and id & 3 = 2`,
    `delete from entry where id >> 31 = 1 and id & 3 = 3`,
    `delete from entry where id >> 31 = 1`,
    `update session set tail = 2 where n = 1`,
  ])('%s: transcript and context are refused, those of others are read [I26]', async (harm) => {
    const { store, fixture, other } = await harmed(harm)
    await expect(store.readEntries(whole(fixture))).rejects.toMatchObject(DAMAGED)
    await expect(store.readContext({ sessionId: fixture.id })).rejects.toMatchObject(DAMAGED)
    expect(await store.readEntries(whole(other))).toHaveLength(3)
    expect((await store.readContext({ sessionId: other.id }))?.entries).toHaveLength(3)
  })

  it.each([
    `update mail set body = replace(body, 'waits', 'baits') where id >> 31 = 1`,
    `delete from mail where id >> 31 = 1 and id & 3 = 2`,
    `delete from intake where session = 1`,
    `update mail set body = null, source = null, key = null where id >> 31 = 1 and id & 3 = 2`,
  ])('%s: the mailbox is refused, that of others is read [I26]', async (harm) => {
    const { store, fixture, other } = await harmed(harm)
    const waiting = ({ id: sessionId }: StoreFixture) =>
      store.listMail({ sessionId, lane: 'user', state: 'pending', limit: 9 })
    await expect(waiting(fixture)).rejects.toMatchObject(DAMAGED)
    await expect(store.listMail({ sessionId: fixture.id, limit: 9 })).rejects.toMatchObject(DAMAGED)
    expect(await waiting(other)).toHaveLength(1)
  })

  it('a repeat of mail that is missing is refused, not reported as a duplicate [I4]', async () => {
    const { store, fixture, other } = await harmed('delete from mail where id >> 31 = 1')
    const repeat = (each: StoreFixture) =>
      each.tryAdmit(said('waits'), { key: `key of ${each.id}` })
    await expect(repeat(fixture)).rejects.toMatchObject(DAMAGED)
    expect(await repeat(other)).toMatchObject({ kind: 'duplicate' })
    expect(await store.findSession(other.id)).toBeDefined()
  })

  it('a session row older than its mailbox does not overwrite mail [I2]', async () => {
    const { fixture, other } = await harmed('update session set mail = 1 where n = 1')
    const [refused, taken] = await Promise.allSettled([
      fixture.tryAdmit(said('next')),
      other.tryAdmit(said('next')),
    ])
    expect(refused).toMatchObject({ status: 'rejected', reason: DAMAGED })
    expect(taken).toMatchObject({ status: 'fulfilled', value: { kind: 'admitted' } })
  })
})

function rootOf(path: string, name: string): number {
  const database = new DatabaseSync(path, { readOnly: true })
  const row = database.prepare('select rootpage from sqlite_schema where name = ?').get(name)
  database.close()
  return Number(row?.['rootpage'])
}

describe('verify', () => {
  it.each([
    ["update session set agent = 'bob' where n = 1", 'names another agent'],
    ["update session set scope = 'theirs' where n = 1", 'names another scope'],
    ['update session set created_at = created_at - 1 where n = 1', 'another creation time'],
    ["update session set title = 'Other' where n = 1", 'has another title'],
    ["update session set title = 'Other', title_salt = null where n = 1", 'has another title'],
    ['update session set title = null, title_salt = null where n = 1', 'has another title'],
    ['update session set mail = 1 where n = 1', 'a key names mail 2, but the session knows only 1'],
  ])('%s: is found, by what the store says elsewhere [I19]', async (harm, problem) => {
    const { store, fixture } = await harmed(harm)
    const found = (await store.verify({})).filter(({ sessionId }) => sessionId === fixture.id)
    expect(found.map((finding) => finding.problem).join()).toContain(problem)
  })

  it.each([
    "title = 'Other'",
    'title = null, title_salt = null',
    "agent = 'bob'",
    "scope = 'theirs'",
    'created_at = 1',
  ])('a session row with %s is not exported, those of others are [I19]', async (change) => {
    const { store, fixture, other } = await harmed(`update session set ${change} where n = 1`)
    const firstLine = ({ id }: StoreFixture) =>
      store.exportSession(id)[Symbol.asyncIterator]().next()
    await expect(firstLine(fixture)).rejects.toMatchObject(DAMAGED)
    expect(await firstLine(other)).toMatchObject({ done: false })
  })
})

describe('a malformed file', () => {
  it('refuses all commits from the start and serves what can be read [I26]', async () => {
    const path = newPath()
    const store = await open(path)
    const fixture = await StoreFixture.open(store)
    await fixture.exchange('hi', 'hello')
    await fixture.admit(said('waits'))
    await store.close()
    // Like a copy taken during a write: one page is from another moment.
    const page = rootOf(path, 'mail_lane') - 1
    const bytes = readFileSync(path)
    bytes.set([0x0a, 0, 0, 0, 0, 0x10, 0, 0], page * 4_096)
    writeFileSync(path, bytes)
    const again = await open(path)
    await expect(StoreFixture.open(again)).rejects.toMatchObject({
      code: 'store-damaged',
      message: expect.stringContaining('malformed'),
    })
    expect(await again.readEntries(whole(fixture))).toHaveLength(3)
    const problem = expect.stringContaining('missing from index mail_lane')
    expect(await again.verify({})).toContainEqual({ sessionId: null, entry: null, problem })
  })
})

/** The files as a killed process leaves them, while their writer continues. */
async function killed() {
  const path = newPath()
  const store = await open(path, { anchorMs: 3_600_000 })
  const fixture = await StoreFixture.open(store)
  for (let index = 0; index < 20; index++) await fixture.admit(said(`message ${index}`))
  const copy = newPath()
  for (const end of ['', '-wal', '.anchor', '.commits']) {
    if (existsSync(`${path}${end}`)) copyFileSync(`${path}${end}`, `${copy}${end}`)
  }
  return { copy, id: fixture.id }
}

const WAL_HARMS: { readonly [harm: string]: (wal: string) => void } = {
  'cut to half': (wal) => truncateSync(wal, readFileSync(wal).length / 2),
  'cut by one page': (wal) => truncateSync(wal, readFileSync(wal).length - 4_096),
  'with a byte flipped': (wal) => {
    const bytes = readFileSync(wal)
    const at = Math.floor(bytes.length * 0.7)
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
    writeFileSync(wal, bytes)
  },
}

describe('a WAL damaged after its process was killed', () => {
  it.each(Object.entries(WAL_HARMS))(
    '%s: the store and verify report the loss before anything is accepted [I26, fault 70]',
    async (_, harm) => {
      const { copy } = await killed()
      harm(`${copy}-wal`)
      const store = await open(copy)
      const lost = expect.stringMatching(
        /acknowledged ones are lost.* delete .*\.anchor and \.commits/,
      )
      await expect(StoreFixture.open(store)).rejects.toMatchObject({
        code: 'store-damaged',
        message: lost,
      })
      const told = expect.objectContaining({ sessionId: null, problem: lost })
      expect(await store.verify({})).toContainEqual(told)
      // A copy has no record of commits, so it would pass for whole.
      await expect(store.backup(`${copy}-saved`)).rejects.toMatchObject({ message: lost })
      expect(existsSync(`${copy}-saved`)).toBe(false)
      await store.close()
      const looking = await readSqliteStore(copy)
      expect(await looking.verify({})).toContainEqual(told)
      await looking.close()
    },
  )

  it.each(['removed', 'an older copy'])(
    'cut, and the record of commits %s: the store answers store-damaged until the loss is accepted [I26, fault 70]',
    async (record) => {
      const { copy } = await killed()
      truncateSync(`${copy}-wal`, readFileSync(`${copy}-wal`).length / 2)
      // Less than a second behind, as it may be: it names no lost commit.
      const anchor = { ...readAnchor(`${copy}.anchor`), commits: 0, recorded: 3 }
      writeFileSync(`${copy}.anchor`, JSON.stringify(anchor))
      const lines = readFileSync(`${copy}.commits`, 'utf8').split('\n')
      if (record === 'removed') rmSync(`${copy}.commits`)
      else writeFileSync(`${copy}.commits`, lines.slice(0, 2).join('\n'))
      // Twice: opening must not create the missing file.
      for (let time = 0; time < 2; time++) {
        const store = await open(copy)
        await expect(StoreFixture.open(store)).rejects.toMatchObject({ code: 'store-damaged' })
        const problem = expect.stringMatching(
          /record of commits .* delete .*\.anchor and \.commits/,
        )
        expect(await store.verify({})).toContainEqual(expect.objectContaining({ problem }))
        await store.close()
      }
      removeAnchor(`${copy}.anchor`, `${copy}.commits`)
      const store = await open(copy)
      await (await StoreFixture.open(store)).admit(said('after'))
      expect(await store.verify({})).toEqual([])
    },
  )

  it.each(['.anchor', '.commits'])('a folder in place of %s is named', async (end) => {
    const { copy } = await killed()
    rmSync(`${copy}${end}`)
    mkdirSync(`${copy}${end}`)
    const message = expect.stringContaining(`${copy}${end} cannot be used (EISDIR)`)
    await expect(open(copy)).rejects.toMatchObject({ code: 'store-refused', message })
  })

  it.each([
    ['.anchor', 'grown to 3 GB', (file: string) => truncateSync(file, 3_000_000_000)],
    ['.commits', 'grown to 3 GB', (file: string) => truncateSync(file, 3_000_000_000)],
    ['.anchor', 'replaced by a pipe', replaceByPipe],
    ['.commits', 'replaced by a pipe', replaceByPipe],
  ])('%s %s is named, unread, and the store only reads [I26]', async (end, _, harm) => {
    const { copy, id } = await killed()
    harm(`${copy}${end}`)
    const store = await open(copy)
    expect((await store.findSession(id))?.mail).toBe(20)
    const message = expect.stringMatching(
      new RegExp(`${end} is not the .* delete .*\\.anchor and \\.commits`),
    )
    const damaged = { code: 'store-damaged', message }
    await expect(StoreFixture.open(store)).rejects.toMatchObject(damaged)
    expect(await store.verify({})).toMatchObject([{ problem: message }])
    await store.close()
    removeAnchor(`${copy}.anchor`, `${copy}.commits`)
    await (await StoreFixture.open(await open(copy))).admit(said('after'))
  })

  it('a store from before commit records opens and has one from then on', async () => {
    const { copy, id } = await killed()
    const anchor = { ...readAnchor(`${copy}.anchor`), recorded: undefined }
    writeFileSync(`${copy}.anchor`, JSON.stringify(anchor))
    rmSync(`${copy}.commits`)
    const store = await open(copy)
    expect((await store.findSession(id))?.mail).toBe(20)
    await (await StoreFixture.open(store)).admit(said('after'))
    expect(readAnchor(`${copy}.anchor`)).toHaveProperty('recorded')
  })

  it('a store whose creation was interrupted opens, whichever of its files exist', async () => {
    const path = newPath()
    await (await open(path)).close()
    for (const lost of [['.anchor'], ['.anchor', '.commits'], ['', '.commits'], ['']]) {
      const copy = newPath()
      for (const end of ['', '.anchor', '.commits']) {
        if (!lost.includes(end)) copyFileSync(`${path}${end}`, `${copy}${end}`)
      }
      await (await StoreFixture.open(await open(copy))).admit(said('first'))
    }
  })

  it('an intact store loses nothing and continues', async () => {
    const { copy, id } = await killed()
    const store = await open(copy)
    expect((await store.findSession(id))?.mail).toBe(20)
    expect(await store.verify({})).toEqual([])
    await (await StoreFixture.open(store)).admit(said('after'))
  })
})
