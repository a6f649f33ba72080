import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { SQLITE_TO_8, SQLITE_TO_9 } from '../../../../../test/support/earlier-schemas.ts'
import { byHand, sqlitePlace } from '../../../../../test/support/sqlite-place.ts'
import { entryNumber } from '../../base/ids.ts'
import type { Store } from '../contract.ts'
import {
  expectKind,
  newOperation,
  register,
  replyTo,
  StoreFixture,
  said,
} from '../contract-suite/bench.ts'

const { newPath, open } = sqlitePlace()

/** The schema before scopes. */
const TO_SCHEMA_5 = `${SQLITE_TO_8}
  update operation set cause = 'manual', reason = 'requested by mail 12';
  alter table operation drop column requested_by;
  alter table session drop column title_salt;
  alter table session drop column scope;
  create table old_note (agent text not null, id text not null, text text not null,
    origin_session text, origin_entry integer, at integer not null, primary key (agent, id)) strict;
  insert into old_note select agent, id, text, origin_session, origin_entry, at from note;
  drop table note;
  alter table old_note rename to note;
  create index note_origin on note (origin_session, origin_entry) where origin_session is not null;
  pragma user_version = 5;`

describe('opening', () => {
  it('creates all its files private', async () => {
    const path = newPath()
    const store = await open(path, { anchorMs: 0 })
    await StoreFixture.open(store)
    for (const name of [path, `${path}-wal`, `${path}-shm`, `${path}.anchor`]) {
      expect([name, statSync(name).mode & 0o777]).toEqual([name, 0o600])
    }
  })

  it('refuses a newer schema and leaves the file unchanged [I26, fault 29]', async () => {
    const path = newPath()
    await (await open(path)).close()
    byHand(path, 'pragma user_version = 99')
    const before = readFileSync(path)
    await expect(open(path)).rejects.toMatchObject({
      code: 'store-refused',
      message: expect.stringContaining('schema 99'),
    })
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  it('refuses a database of another program', async () => {
    const path = newPath()
    byHand(path, 'create table theirs (a)')
    await expect(open(path)).rejects.toMatchObject({ code: 'store-refused' })
    byHand(path, 'insert into theirs values (1)')
  })

  it('refuses a file that is not a database', async () => {
    const path = newPath()
    writeFileSync(path, 'just a text file, long enough not to be taken for an empty one'.repeat(20))
    await expect(open(path)).rejects.toMatchObject({ code: 'store-refused' })
  })

  it.runIf(process.platform === 'linux')('refuses a folder that cannot be used', async () => {
    const path = newPath()
    writeFileSync(path, '')
    for (const folder of ['/proc/throughline', join(path, 'below-a-file')])
      await expect(open(join(folder, 'store.db'))).rejects.toMatchObject({
        code: 'store-refused',
        message: expect.stringContaining(`the folder ${folder} cannot be used`),
      })
  })

  it('reopens a closed store with everything in it [I1]', async () => {
    const path = newPath()
    const first = await open(path)
    const fixture = await StoreFixture.open(first)
    await fixture.exchange('hi', 'hello')
    await first.close()
    const second = await open(path)
    expect((await second.findSession(fixture.id))?.tail).toBe(3)
    expect(await second.verify({})).toEqual([])
  })

  it('removes an anchor draft left by a killed process', async () => {
    const path = newPath()
    const draft = `${path}.anchor.7-0123abcd.new`
    writeFileSync(draft, '')
    utimesSync(draft, 0, 0)
    await (await open(path)).close()
    expect(existsSync(draft)).toBe(false)
  })

  it('gives a token of an earlier schema the principal of its idempotency keys', async () => {
    const path = newPath()
    const row = { id: 'laptop', hash: 'a'.repeat(64), scopes: ['read'], label: '', createdAt: 1 }
    const first = await open(path)
    await first.putToken({ ...row, principal: 'x', expiresAt: null })
    await first.close()
    byHand(path, `${TO_SCHEMA_5} alter table token drop column principal; pragma user_version = 4`)
    const [token] = await (await open(path)).listTokens()
    expect(token).toEqual({ ...row, principal: 'laptop', expiresAt: null })
  })

  it('gives rows of an earlier schema their scope and the mail that requested them', async () => {
    const path = newPath()
    const first = await open(path)
    const [one, two] = [await StoreFixture.open(first), await StoreFixture.open(first)]
    const note = { agent: 'ada', id: 'drink', text: 'tea' }
    const origin = { sessionId: one.id, number: entryNumber(1) }
    await first.putNote({ ...note, scope: one.id, origin })
    await first.putNote({ ...note, scope: '', id: 'loose', origin: null })
    await one.exchange('hi', 'hello')
    const operation = await one.claim(1)
    await first.recordAttempt({
      ...{ id: newOperation(), sessionId: one.id, task: 'turn', modelRoute: 'main' },
      ...{ outcome: 'answered', inputTokens: 1, outputTokens: 1, at: 1 },
    })
    await first.close()
    byHand(path, TO_SCHEMA_5)
    const second = await open(path)
    const seen = async (scope?: string) => {
      const query = { agent: 'ada', limit: 9, ...(scope !== undefined && { scope }) }
      return (await second.listNotes(query)).map(({ id }) => id)
    }
    expect([await seen(one.id), await seen(two.id)]).toEqual([['drink'], []])
    expect(await seen()).toEqual(['drink', 'loose'])
    expect((await second.findSession(two.id))?.scope).toBe(two.id)
    expect(await second.findOperation(operation)).toMatchObject({ requestedBy: 12 })
    expect((await second.sumAttempts({ agent: 'ada', since: 0 })).attempts).toBe(1)
    expect(await second.verify({})).toEqual([])
  })

  it('claims waiting replies of an earlier schema, in order per address [I31]', async () => {
    const path = newPath()
    const first = await open(path)
    const fixture = await StoreFixture.open(first)
    await fixture.exchange('hi', 'hello', [replyTo('ana'), replyTo('ana'), replyTo('bo')])
    await first.close()
    byHand(path, SQLITE_TO_9)
    const second = await open(path)
    const claim = { edge: 'telegram', claimant: await register(second), at: 1 }
    const addresses: string[] = []
    for (let index = 0; index < 3; index++) {
      const outcome = await second.claimReply(claim)
      addresses.push(outcome.kind === 'claimed' ? outcome.reply.address : outcome.kind)
    }
    expect(addresses).toEqual(['ana', 'bo', 'none'])
  })

  it('takes what an earlier schema counted as attempts for losses', async () => {
    const path = newPath()
    const first = await open(path)
    const fixture = await StoreFixture.open(first)
    await fixture.hear('work')
    await first.close()
    byHand(path, `${SQLITE_TO_9} update session set attempts = 3`)
    const row = await (await open(path)).findSession(fixture.id)
    expect([row?.attempts, row?.losses]).toEqual([0, 3])
  })

  it('refuses a path whose folder is a file, with the reason', async () => {
    const path = newPath()
    writeFileSync(path, '')
    await expect(open(join(path, 'below.db'))).rejects.toThrow()
  })
})

describe('the write lock', () => {
  it('refuses a commit with a typed error if others hold it too long, then continues [I24, fault 65]', async () => {
    const path = newPath()
    const store = await open(path, { busyMs: 60 })
    const fixture = await StoreFixture.open(store)
    const other = new DatabaseSync(path)
    other.exec('begin immediate')
    await expect(fixture.tryAdmit(said('now'))).rejects.toMatchObject({
      code: 'store-busy',
      retryable: true,
    })
    other.exec('rollback')
    other.close()
    expect(await fixture.admit(said('now'))).toBe(1)
  })

  it('is waited for up to the limit', async () => {
    const path = newPath()
    const store = await open(path)
    const fixture = await StoreFixture.open(store)
    const other = new DatabaseSync(path)
    other.exec('begin immediate')
    const waiting = fixture.admit(said('now'))
    setTimeout(() => other.exec('rollback'), 80)
    expect(await waiting).toBe(1)
    other.close()
  })

  it('is not needed for reading', async () => {
    const path = newPath()
    const fixture = await StoreFixture.open(await open(path))
    const other = new DatabaseSync(path)
    other.exec('begin immediate')
    expect((await fixture.row()).id).toBe(fixture.id)
    other.close()
  })
})

describe('backup', () => {
  it('copies a store in use to a private file that passes verify', async () => {
    const path = newPath()
    const store = await open(path)
    const fixture = await StoreFixture.open(store)
    await fixture.exchange('hi', 'hello')
    const writing = Promise.all(
      Array.from({ length: 18 }, (_, index) => fixture.tryAdmit(said(`m${index}`))),
    )
    await store.backup(`${path}-copy`)
    await writing
    expect(statSync(`${path}-copy`).mode & 0o777).toBe(0o600)
    const copy = await open(`${path}-copy`)
    expect((await copy.findSession(fixture.id))?.tail).toBe(3)
    expect(await copy.verify({})).toEqual([])
  })

  it('never overwrites a file', async () => {
    const path = newPath()
    const store = await open(path)
    writeFileSync(`${path}-precious`, 'keep me')
    await expect(store.backup(`${path}-precious`)).rejects.toMatchObject({ code: 'store-refused' })
    expect(readFileSync(`${path}-precious`, 'utf8')).toBe('keep me')
  })

  it.each(['-wal', '.anchor', '.commits'])(
    'is refused beside the %s of a store that was there before',
    async (end) => {
      const path = newPath()
      const store = await open(path)
      writeFileSync(`${path}-copy${end}`, '')
      const left = expect.stringContaining(`${path}-copy${end}`)
      await expect(store.backup(`${path}-copy`)).rejects.toMatchObject({ message: left })
      expect(existsSync(`${path}-copy`)).toBe(false)
    },
  )
})

describe('waking', () => {
  it('mail wakes the store whose runner holds the session, without polling', async () => {
    const path = newPath()
    const holder = await open(path, { pollMs: 3_600_000 })
    const fixture = await StoreFixture.open(holder)
    const sender = await open(path, { pollMs: 3_600_000 })
    const woken = new Promise<void>((resolve) => holder.watch(resolve))
    const mail = { to: { sessionId: fixture.id }, source: 'a', key: 'k', lane: 'user' } as const
    await sender.admit({ ...mail, tokens: 1, body: said('wake up') })
    await woken
  })

  it('polling finds what other processes commit, without a hint', async () => {
    const path = newPath()
    const store = await open(path, { pollMs: 10 })
    const woken = new Promise<void>((resolve) => store.watch(resolve))
    byHand(path, "insert into runner values ('r', 'b', 1, 1, 1, 1, null)")
    await woken
  })

  it('a runner leaves no file behind', async () => {
    const path = newPath()
    const store = await open(path)
    const fixture = await StoreFixture.open(store)
    expect(existsSync(join(`${path}.wake`, fixture.lease.runner))).toBe(true)
    await store.close()
    expect(existsSync(join(`${path}.wake`, fixture.lease.runner))).toBe(false)
  })

  it('a runner that retires, or finds itself dismissed, is no longer watched', async () => {
    const path = newPath()
    const store = await open(path)
    const [one, two] = [await register(store), await register(store)]
    const left = () => readdirSync(`${path}.wake`).filter((name) => name === one || name === two)
    await store.retireRunner({ runner: one })
    expect(left()).toEqual([two])
    byHand(path, 'delete from runner')
    expect((await store.retireRunner({ runner: two })).kind).toBe('lost')
    expect(left()).toEqual([])
  })
})

describe('a compaction', () => {
  it('writes little more than its handoff, however long the transcript is [S24]', async () => {
    const path = newPath()
    const first = await open(path)
    const { lease, tail, bytes } = await longTranscript(first)
    await first.close()
    // Closing emptied the WAL, so its content is new.
    const store = await open(path)
    const handoff = Array.from({ length: 10_000 }, (_, at) => `fact${at} river${at * 7}`).join(' ')
    const logBytes = () => statSync(`${path}-wal`).size
    const before = logBytes()
    const claim = { lease, by: 'model', trigger: 'background', reason: 'soft threshold' } as const
    const operation = newOperation()
    const covers = entryNumber(tail.number - 2)
    const claimed = await store.claimCompaction({ ...claim, operation, covers })
    expectKind(claimed, 'claimed')
    const content = { body: { summary: handoff }, tokens: 20, result: { tokensAfter: 20 } }
    expectKind(await store.commitCompaction({ lease, tail, operation, ...content }), 'committed')
    const written = logBytes() - before
    expect(written).toBeGreaterThan(handoff.length)
    expect(written / handoff.length).toBeLessThan(2)
    expect(handoff.length).toBeLessThan(bytes / 2)
  })
})

/** Longer than any handoff that may replace it. */
async function longTranscript(store: Store) {
  const fixture = await StoreFixture.open(store)
  const text = 'The river is wide and slow here. '.repeat(500)
  for (let turn = 0; turn < 20; turn++) await fixture.exchange(`${turn} ${text}`, `${turn} ${text}`)
  const { lease, tail } = fixture
  return { lease, tail, bytes: 40 * text.length }
}

describe('operations', () => {
  it('the newest is the one that started last, even if the clock was set back [I25, fault 75]', async () => {
    const path = newPath()
    const fixture = await StoreFixture.open(await open(path))
    await fixture.exchange('one', 'a')
    await fixture.compact(1)
    await fixture.exchange('two', 'b')
    const last = await fixture.claim(5)
    byHand(path, `update operation set started_at = 0, seal = null where id = '${last}'`)
    const [newest] = await fixture.store.listOperations({ sessionId: fixture.id, limit: 1 })
    expect([newest?.id, newest?.state]).toEqual([last, 'running'])
  })
})
