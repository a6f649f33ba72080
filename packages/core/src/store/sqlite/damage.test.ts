import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { describe, expect, it } from 'vitest'
import { byHand, sqlitePlace } from '../../../../../test/support/sqlite-place.ts'
import { StoreFixture, said } from '../contract-suite/bench.ts'
import { StoreDamagedError } from '../errors.ts'
import { readSqliteStore } from './read.ts'
import { SQLITE_SCHEMA } from './schema.ts'
import { Reader } from './worker/reader.ts'

const { opened, newPath, open } = sqlitePlace()

/**
 * Runs the SQL in another process, which keeps the file open until the returned function is called.
 */
async function byAnotherProcess(path: string, sql: string): Promise<() => Promise<void>> {
  const code = `const { DatabaseSync } = require('node:sqlite')
    const database = new DatabaseSync(process.argv[1])
    database.exec(process.argv[2])
    process.stdout.write('written')
    process.stdin.on('end', () => database.close()).resume()`
  const child = spawn(process.execPath, ['-e', code, path, sql], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  await once(child.stdout, 'data')
  return async () => {
    child.stdin.end()
    await ended
  }
}

/** SQLite itself may notice first that the file is no longer a database. */
const STOPPED = /^store-(damaged|refused)$/

describe('damage', () => {
  it('removing the WAL under a running process stops acknowledgments at once [I26, fault 67]', async () => {
    const path = newPath()
    const store = await open(path)
    const fixture = await StoreFixture.open(store)
    await fixture.admit(said('before'))
    rmSync(`${path}-wal`)
    await expect(fixture.tryAdmit(said('after'))).rejects.toMatchObject({ code: 'store-damaged' })
    await expect(fixture.tryAdmit(said('again'))).rejects.toMatchObject({ code: 'store-damaged' })
  })

  it('a replaced WAL is noticed [I26, fault 67]', async () => {
    const path = newPath()
    const store = await open(path)
    const fixture = await StoreFixture.open(store)
    copyFileSync(`${path}-wal`, `${path}-copy`)
    renameSync(`${path}-copy`, `${path}-wal`)
    await expect(fixture.tryAdmit(said('after'))).rejects.toMatchObject({ code: 'store-damaged' })
  })

  it('a truncated or partly truncated WAL is noticed before the next acknowledgment [I26, fault 70]', async () => {
    for (const part of [0, 0.5]) {
      const path = newPath()
      const fixture = await StoreFixture.open(await open(path))
      for (let index = 0; index < 5; index++) await fixture.admit(said(`before ${index}`))
      truncateSync(`${path}-wal`, Math.floor(statSync(`${path}-wal`).size * part))
      const late = fixture.tryAdmit(said('after'))
      await expect(late, `${part}`).rejects.toMatchObject({ code: expect.stringMatching(STOPPED) })
    }
  })

  it('a WAL whose header a power failure left empty blocks nothing, and is watched from then on', async () => {
    const path = newPath()
    const fixture = await StoreFixture.open(await open(path))
    await fixture.admit(said('before'))
    await opened.pop()?.close()
    writeFileSync(`${path}-wal`, Buffer.alloc(8_192))
    const store = await open(path)
    // Writes nothing, so the WAL stays as it is.
    expect(await store.removeToken({ id: 'nobody' })).toEqual({ kind: 'unknown' })
    const again = await StoreFixture.open(store)
    await again.admit(said('after'))
    truncateSync(`${path}-wal`, 0)
    const late = again.tryAdmit(said('late'))
    await expect(late).rejects.toMatchObject({ code: expect.stringMatching(STOPPED) })
  })

  it('a WAL that SQLite itself truncates after a rollback is accepted', async () => {
    const path = newPath()
    const fixture = await StoreFixture.open(await open(path))
    // Only a connection that has restarted a WAL before takes over the salt of another.
    byHand(path, 'pragma wal_checkpoint(passive)')
    await fixture.admit(said('before'))
    const insert = 'insert into large values (randomblob(1000000));'.repeat(20)
    byHand(
      path,
      `pragma wal_autocheckpoint = 0;
       create table large (bytes blob); ${insert}
       pragma wal_checkpoint(passive);
       pragma cache_size = 10;
       begin immediate; ${insert} rollback`,
    )
    const size = statSync(`${path}-wal`).size
    await fixture.admit(said('first'))
    expect(statSync(`${path}-wal`).size).toBeLessThan(size)
    await fixture.admit(said('second'))
  })

  it('removing the WAL index under a running process does not let it overwrite the commits of others [I26, fault 67]', async () => {
    const path = newPath()
    const fixture = await StoreFixture.open(await open(path))
    await fixture.admit(said('before'))
    rmSync(`${path}-shm`)
    // Another process, because connections in one process share the index.
    const end = await byAnotherProcess(path, "update session set title = 'theirs', seal = null")
    await expect(fixture.tryAdmit(said('after'))).rejects.toMatchObject({ code: 'store-damaged' })
    await opened.pop()?.close()
    await end()
    const again = await open(path)
    expect((await again.findSession(fixture.id))?.title).toBe('theirs')
    // The other process's own change is the only damage.
    const problem = expect.stringContaining('another title')
    expect(await again.verify({})).toEqual([expect.objectContaining({ problem })])
  })

  it('a reader opened on a truncated WAL throws a store error [I26]', async () => {
    const path = newPath()
    const fixture = await StoreFixture.open(await open(path))
    await fixture.admit(said('before'))
    truncateSync(`${path}-wal`, 100)
    expect(() => new Reader(path)).toThrow(StoreDamagedError)
  })

  it('a store opened through a link has its WAL watched and is read completely [I26]', async () => {
    const path = newPath()
    await (await open(path)).close()
    const link = `${path}.link`
    symlinkSync(path, link)
    const fixture = await StoreFixture.open(await open(link))
    await fixture.admit(said('before'))
    const looking = await readSqliteStore(link)
    expect((await looking.findSession(fixture.id))?.mail).toBe(1)
    await looking.close()
    rmSync(`${path}-wal`)
    await expect(fixture.tryAdmit(said('after'))).rejects.toMatchObject({ code: 'store-damaged' })
  })

  it('a dangling link is refused', async () => {
    const path = newPath()
    symlinkSync(`${path}.gone`, path)
    await expect(open(path)).rejects.toMatchObject({ code: 'store-refused' })
  })

  it('a hard link is refused while it exists, under either name [I1, I26]', async () => {
    const path = newPath()
    const other = `${path}.other`
    const fixture = await StoreFixture.open(await open(path))
    linkSync(path, other)
    const refused = { code: 'store-refused', message: expect.stringContaining('2 names') }
    await expect(open(other)).rejects.toMatchObject(refused)
    await fixture.admit(said('who had it open before goes on'))
    await opened.pop()?.close()
    await expect(open(path)).rejects.toMatchObject(refused)
    rmSync(other)
    expect((await (await open(path)).findSession(fixture.id))?.mail).toBe(1)
  })

  it('a database file replaced under a running process is noticed [I26, fault 72]', async () => {
    const path = newPath()
    const store = await open(path)
    const fixture = await StoreFixture.open(store)
    renameSync(path, `${path}-moved`)
    await expect(fixture.tryAdmit(said('after'))).rejects.toMatchObject({ code: 'store-damaged' })
  })

  it('a newer version that changes the schema stops the older one [I26, fault 29]', async () => {
    const path = newPath()
    const store = await open(path)
    const fixture = await StoreFixture.open(store)
    byHand(path, 'pragma user_version = 99')
    await expect(fixture.tryAdmit(said('after'))).rejects.toMatchObject({ code: 'store-damaged' })
  })

  it('a missing table is noticed at the start, and by every read that needs it [I26]', async () => {
    const path = newPath()
    const fixture = await StoreFixture.open(await open(path))
    await opened[0]?.close()
    byHand(path, 'alter table note rename to memo')
    const store = await open(path)
    const damaged = {
      code: 'store-damaged',
      message: expect.stringContaining('its table note is missing'),
    }
    await expect(StoreFixture.open(store)).rejects.toMatchObject(damaged)
    const notes = { agent: 'ada', scope: '', limit: 1 }
    await expect(store.listNotes(notes)).rejects.toMatchObject(damaged)
    expect((await store.findSession(fixture.id))?.id).toBe(fixture.id)
    const problem = 'its table note is missing'
    expect(await store.verify({})).toEqual([{ sessionId: null, entry: null, problem }])
  })

  it.each([0, 3, SQLITE_SCHEMA - 1])(
    'a schema number that was set back to %i is named, and nothing changes',
    async (number) => {
      const path = newPath()
      const fixture = await StoreFixture.open(await open(path))
      await opened[0]?.close()
      byHand(path, `pragma user_version = ${number}`)
      await expect(open(path)).rejects.toMatchObject({
        code: 'store-damaged',
        message: expect.stringContaining(
          `its schema number is ${number}, but its tables do not match that schema`,
        ),
      })
      byHand(path, `pragma user_version = ${SQLITE_SCHEMA}`)
      const store = await open(path)
      expect(await store.verify({})).toEqual([])
      expect((await store.findSession(fixture.id))?.id).toBe(fixture.id)
    },
  )

  it('a store behind its anchor answers reads and refuses commits [I19, I26, fault 24]', async () => {
    const path = newPath()
    const store = await open(path, { anchorMs: 0 })
    const fixture = await StoreFixture.open(store)
    await store.backup(`${path}-old`)
    await fixture.admit(said('lost'))
    await store.close()
    for (const side of ['-wal', '-shm']) rmSync(`${path}${side}`, { force: true })
    renameSync(`${path}-old`, path)
    const restored = await open(path)
    expect((await restored.findSession(fixture.id))?.mail).toBe(0)
    await expect(StoreFixture.open(restored)).rejects.toMatchObject({
      code: 'store-damaged',
      message: expect.stringContaining('anchor remembers'),
    })
  })

  it('an empty store whose anchor names commits is damaged [I26]', async () => {
    const path = newPath()
    const store = await open(path)
    await StoreFixture.open(store)
    await store.close()
    rmSync(path)
    const emptied = await open(path)
    await expect(StoreFixture.open(emptied)).rejects.toMatchObject({ code: 'store-damaged' })
  })

  it('a truncated database is noticed by verify or refused [I26, fault 70]', async () => {
    const path = newPath()
    const store = await open(path)
    const fixture = await StoreFixture.open(store)
    for (let round = 0; round < 60; round++)
      await fixture.exchange('x'.repeat(500), 'y'.repeat(500))
    await store.close()
    truncateSync(path, Math.floor(statSync(path).size / 2 / 4096) * 4096)
    const attempt = async () => (await open(path)).verify({})
    const found = await attempt().catch((error: Error) => [error])
    expect(found).not.toEqual([])
  })

  it('a flipped bit is reported with its entry [I19, fault 69]', async () => {
    const path = newPath()
    const store = await open(path)
    const fixture = await StoreFixture.open(store)
    await fixture.exchange('a very particular marker', 'ok')
    await store.close()
    const bytes = readFileSync(path)
    const text = '{"parts":[{"text":"a very particular marker"'
    // The mailbox has the same text; flip it everywhere.
    for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) {
      bytes.writeUInt8(bytes.readUInt8(at + 20) ^ 1, at + 20)
    }
    writeFileSync(path, bytes)
    const findings = await (await open(path)).verify({})
    expect(findings.map(({ problem }) => problem)).toEqual([
      'entry 1 has a body that does not match its hash',
      'mail 1 has a body that does not match its hash',
    ])
  })

  it('a waiting message that no process would look for is reported [I26]', async () => {
    const path = newPath()
    const store = await open(path)
    const fixture = await StoreFixture.open(store)
    await fixture.exchange('hi', 'hello')
    await fixture.admit(said('waits'))
    await store.close()
    // In the file these differ by one bit.
    byHand(path, 'update session set work = 0')
    const findings = await (await open(path)).verify({})
    expect(findings.map(({ problem }) => problem)).toEqual([
      'session row says that there is no work, but mail waits',
    ])
  })

  it('an unreadable row is reported with its number, and the others are checked [I19, fault 69]', async () => {
    const found: Record<string, string> = {
      "update entry set meta = '(' where id & 3 = 2": 'entry 2 cannot be read',
      'update entry set at = 1 << 62 where id & 3 = 2': 'entry 2 cannot be read',
      "update session set pending = '('":
        'session row cannot be read: its column pending holds no JSON',
      "update audit set facts = '(' where cursor = 2": 'audit row 2 cannot be read',
    }
    for (const [harm, problem] of Object.entries(found)) {
      const path = newPath()
      const store = await open(path)
      await (await StoreFixture.open(store)).exchange('hi', 'hello')
      await store.close()
      byHand(path, `drop trigger entry_changes_by_erasure_only; ${harm}`)
      const findings = await (await open(path)).verify({})
      expect(findings.map((finding) => finding.problem)).toEqual([problem])
    }
  })

  it('entries cannot be changed or deleted through SQL [I19]', async () => {
    const path = newPath()
    const fixture = await StoreFixture.open(await open(path))
    await fixture.hear('hi')
    expect(() => byHand(path, `update entry set body = '"x"'`)).toThrow(/never changed/)
    expect(() => byHand(path, 'update entry set at = 1, body = null, salt = null')).toThrow(
      /never changed/,
    )
    expect(() => byHand(path, 'delete from entry')).toThrow(/never deleted/)
  })
})
