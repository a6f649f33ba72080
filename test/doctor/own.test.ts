import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { entryNumber, runnerId } from '../../packages/core/src/base/ids.ts'
import {
  create,
  newOperation,
  replyTo,
  StoreFixture,
} from '../../packages/core/src/store/contract-suite/bench.ts'
import { forkAt } from '../../packages/core/src/store/contract-suite/forks/forks.ts'
import { openMemoryStore } from '../../packages/core/src/store/memory/open.ts'
import { openSqliteStore } from '../../packages/core/src/store/sqlite/open.ts'
import { readSqliteStore } from '../../packages/core/src/store/sqlite/read.ts'
import { diagnoseOwn } from '../../packages/server/src/doctor/diagnose.ts'
import { type Examination, examineStore } from '../../packages/server/src/doctor/examine.ts'
import { examineFile, examineIndex, sqliteVersion } from '../../packages/server/src/doctor/file.ts'
import { worstOf } from '../../packages/server/src/doctor/finding.ts'
import { fixFindings, type RepairActions } from '../../packages/server/src/doctor/fix.ts'
import { acceptLoss } from '../../packages/server/src/host/open-store.ts'
import { runCli } from '../support/run-cli.ts'
import { until } from '../support/until.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-own-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const handsFor = (openStore: RepairActions['openStore']): RepairActions => ({
  openStore,
  finishErasure: () => Promise.reject(new Error('nothing was to be erased')),
})

async function examine(examination: Pick<Examination, 'reads'> & Partial<Examination>) {
  const terms = { now: Date.now(), isGone: () => false, agents: null }
  return (await examineStore({ ...terms, ...examination })).findings
}

const HOUR = 3_600_000

describe('examining a Throughline store', () => {
  it('finds nothing in a store in which people talk, compact and pause', async () => {
    const reads = openMemoryStore()
    const fixture = await StoreFixture.open(reads)
    await fixture.exchange('one', 'two', [replyTo('7')])
    await fixture.compact(1)
    await fixture.hear('and now')
    await create(reads)
    expect(await examine({ reads })).toEqual([])
  })

  it('finds the leases of a dead process, and --fix releases them', async () => {
    const store = openMemoryStore()
    const fixture = await StoreFixture.open(store)
    await fixture.exchange('one', 'two')
    await fixture.claim(1)
    await fixture.hear('three')
    const isGone = () => true
    const later = Date.now() + HOUR
    const findings = await examine({ reads: store, isGone, now: later })
    expect(findings.map(({ kind }) => kind)).toEqual(['dead-runner', 'orphaned-claim', 'turn-left'])
    const open = async () => Object.assign(Object.create(store), { close: async () => {} })
    expect(await fixFindings(findings, handsFor(open))).toEqual([
      expect.stringContaining('was dismissed'),
      expect.stringContaining('was given up'),
    ])
    expect(await store.listRunners()).toEqual([])
    const after = await examine({ reads: store, isGone, now: later })
    expect(after.map(({ kind }) => kind)).toEqual(['turn-left'])
  })

  it('does not dismiss a runner that turns out to be alive', async () => {
    const store = openMemoryStore()
    const fixture = await StoreFixture.open(store)
    const findings = await examine({ reads: store, isGone: () => true })
    await store.renew({ runner: fixture.lease.runner })
    const open = async () => Object.assign(Object.create(store), { close: async () => {} })
    expect(await fixFindings(findings, handsFor(open))).toEqual([
      expect.stringContaining('is alive'),
    ])
    expect(await store.listRunners()).toHaveLength(1)
  })

  it('leaves alone a removal that began a moment ago', async () => {
    const store = openMemoryStore()
    const id = await create(store)
    await store.deleteSession({ sessionId: id, operation: newOperation(), reason: 'asked' })
    expect(await examine({ reads: store })).toEqual([])
    const old = await examine({ reads: store, now: Date.now() + 3_600_000 })
    expect(old.map(({ kind, sessionIds }) => [kind, sessionIds])).toEqual([['erasure-left', [id]]])
  })

  it('finds answers that wait or were abandoned', async () => {
    const store = openMemoryStore()
    const fixture = await StoreFixture.open(store)
    await fixture.exchange('one', 'two', [replyTo('7'), replyTo('8')])
    const claimant = fixture.lease.runner
    const claimed = await store.claimReply({ edge: 'telegram', claimant, at: Date.now() })
    if (claimed.kind !== 'claimed') throw new Error('nothing to send')
    const { sessionId, number, attempt } = claimed.reply
    const result = { kind: 'failed', retryAt: 0, attemptsMax: 1 } as const
    await store.settleReply({ sessionId, number, attempt, claimant, result })
    const findings = await examine({ reads: store, now: Date.now() + HOUR })
    expect(findings.map(({ kind, severity }) => [kind, severity])).toEqual([
      ['outbox-stuck', 'warning'],
      ['outbox-dead', 'fault'],
    ])
  })

  it('finds agents that are not configured, and clocks that disagree', async () => {
    const store = openMemoryStore()
    const fixture = await StoreFixture.open(store)
    await fixture.admit('waits')
    const id = runnerId('tomorrow')
    const startedAt = Date.now() + 24 * HOUR
    await store.registerRunner({ id, boot: 'b', process: 2, startedAt, leaseMs: 1 })
    const findings = await examine({ reads: store, agents: ['bob'], now: Date.now() - HOUR })
    expect(findings.map(({ kind }) => kind).sort()).toEqual([
      ...['clock', 'lease-from-the-future', 'unserved-agent'],
    ])
  })
})

describe('examining the file of a store', () => {
  async function fileWith(name: string): Promise<string> {
    const path = join(folder, name)
    const store = await openSqliteStore({ path })
    const fixture = await StoreFixture.open(store)
    await fixture.exchange('where is the orchid', 'in the greenhouse')
    await store.retireRunner({ runner: fixture.lease.runner })
    await until(async () => indexed(path) > 0)
    await store.close()
    return path
  }

  const hashOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')

  it('reads without a trace and finds nothing in a sound one', async () => {
    const path = await fileWith('sound.db')
    const before = hashOf(path)
    const reads = await readSqliteStore(path)
    const ofFile = [...examineFile(path), ...examineIndex(path, true)]
    expect([...(await examine({ reads })), ...ofFile]).toEqual([])
    await reads.close()
    expect(hashOf(path)).toBe(before)
  })

  it('finds a file that others may read, and --fix makes it private', async () => {
    const path = await fileWith('open.db')
    chmodSync(path, 0o644)
    const findings = examineFile(path)
    expect(findings.map(({ kind }) => kind)).toEqual(['open-to-others'])
    await fixFindings(
      findings,
      handsFor(() => openSqliteStore({ path })),
    )
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('finds a search index that lost entries, and --fix rebuilds it', async () => {
    const path = await fileWith('drift.db')
    byHand(path, 'delete from word_page')
    const findings = examineIndex(path, true)
    expect(findings.map(({ kind }) => kind)).toEqual(['index-drift'])
    await fixFindings(
      findings,
      handsFor(() => openSqliteStore({ path })),
    )
    expect(examineIndex(path, true)).toEqual([])
  })

  /** Several runs and pages, an erased entry, a fork, and entries in two languages. */
  async function fileWithIndex(name: string): Promise<string> {
    const path = join(folder, name)
    const store = await openSqliteStore({ path })
    const fixture = await StoreFixture.open(store)
    const indexedTo = async (upto: number) =>
      await until(async () => numberIn(path, 'select sum(upto) as n from indexed') === upto)
    for (let index = 0; index < 12; index++) {
      const words = Array.from({ length: 40 }, (_, at) => `orchid${index}x${at}`).join(' ')
      await fixture.hear(`the gardener ${index} waters ${words}`)
      await indexedTo(index + 1)
    }
    await fixture.hear('wo ist die Orchidee und wer hat sie nicht gegossen')
    await indexedTo(13)
    await fixture.erase([entryNumber(3)])
    const other = await StoreFixture.open(store)
    await other.exchange('where is the orchid', 'in the greenhouse')
    const fork = await forkAt(store, other.id, 2)
    await fork.hear('a palm of the fork alone')
    await until(async () => numberIn(path, 'select count(*) as n from unindexed') === 0)
    for (const { lease } of [fixture, other, fork])
      await store.retireRunner({ runner: lease.runner })
    await store.close()
    return path
  }

  it('compares the search index with the messages: finds each kind of damage, and --fix rebuilds it', async () => {
    const sound = await fileWithIndex('index.db')
    expect(examineIndex(sound, true)).toEqual([])
    const sessions = 'The search index does not match the messages of '
    const damages: readonly (readonly [sql: string, what: string])[] = [
      ['delete from word_page where id = (select max(id) from word_page)', sessions],
      ['delete from word_page where id = (select min(id) from word_page)', sessions],
      [
        `update word_page set lists = cast(substr(lists, 1, length(lists) - 1) || x'7f' as blob)`,
        sessions,
      ],
      [`update word_page set lists = x'ff'`, sessions],
      ['update word_page set run = run + 1000', sessions],
      [`update word_page set key = cast('zz' || key as blob)`, 'The search index has '],
      ['update passage_block set lengths = zeroblob(length(lengths))', sessions],
      [
        `update passage_block set entries = zeroblob(length(entries)), lengths = zeroblob(length(lengths))`,
        sessions,
      ],
      [`update word_total set totals = '('`, 'The search index has rows that cannot be read'],
      [`update word_runs set runs = '('`, 'The search index has rows that cannot be read'],
      [`update indexed set state = '('`, 'The search index has rows that cannot be read'],
      [`update indexed set state = json_set(state, '$[2]', 1)`, sessions],
      [`update word_total set totals = '[1,1]'`, sessions],
      [`update word_total set totals = json_set(totals, '$[0]', 99)`, 'The totals of the search'],
    ]
    for (const [at, [sql, what]] of damages.entries()) {
      const path = join(folder, `index-${at}.db`)
      copyFileSync(sound, path)
      byHand(path, sql)
      const findings = examineIndex(path, true)
      expect(findings, sql).toMatchObject([
        {
          ...{ kind: 'index-drift', what: expect.stringContaining(what) },
          advice: expect.stringContaining('`throughline doctor --fix` rebuilds the index.'),
        },
      ])
      await fixFindings(
        findings,
        handsFor(() => openSqliteStore({ path })),
      )
      const store = await openSqliteStore({ path })
      await until(async () => numberIn(path, 'select count(*) as n from unindexed') === 0)
      await store.close()
      expect(examineIndex(path, true), sql).toEqual([])
    }
  })

  it('compares the store with the audit logs: an old copy that brought its own record is noticed [I26]', async () => {
    const cwd = mkdtempSync(join(folder, 'copied-'))
    const env = { HOME: cwd }
    const chat = async (text: string) =>
      await runCli(['chat', '--session', 'one', '--agent', 'main'], {
        cwd,
        env,
        input: `${text}\n`,
      })
    const doctor = async () => await runCli(['doctor'], { cwd, env })
    const [state, copy] = [join(cwd, '.throughline'), join(cwd, 'copy')]
    expect((await chat('say first')).exitCode).toBe(0)
    mkdirSync(copy)
    const files = readdirSync(state).filter((name) => /^throughline\.db/.test(name))
    const stored = files.filter((name) => statSync(join(state, name)).isFile())
    for (const name of stored) copyFileSync(join(state, name), join(copy, name))
    expect((await chat('say second')).exitCode).toBe(0)
    expect(await doctor()).toMatchObject({ exitCode: 0 })
    for (const name of ['-wal', '-shm'])
      rmSync(join(state, `throughline.db${name}`), { force: true })
    for (const name of stored) copyFileSync(join(copy, name), join(state, name))
    const { exitCode, stdout } = await doctor()
    expect(stdout).toContain(
      'The audit logs record later messages of 1 session than the store holds',
    )
    expect(exitCode).toBe(2)
  })

  it('reports lost commits, does not call the transcripts sound then, and continues with the rest once accepted [I26]', async () => {
    const path = await fileWith('lost.db')
    copyFileSync(path, `${path}.old`)
    const store = await openSqliteStore({ path })
    await (await StoreFixture.open(store)).admit('was acknowledged')
    await store.close()
    copyFileSync(`${path}.old`, path)
    byHand(path, 'delete from word_page')
    const diagnose = async () => {
      const open = () => readSqliteStore(path)
      const { findings } = await diagnoseOwn({
        ...{ open, file: path, logs: [], sqlite: sqliteVersion(), freeBytes: null },
        ...{ now: Date.now(), isGone: () => false, agents: null },
      })
      return findings.filter(({ kind }) => kind !== 'dead-runner')
    }
    const [lost, drift] = await diagnose()
    expect(lost).toMatchObject({ kind: 'lost-commits', severity: 'fault' })
    expect(lost?.advice).toContain('--accept-loss')
    const advice = expect.not.stringContaining('whole')
    expect(drift).toMatchObject({ kind: 'index-drift', advice })
    const refused = await openSqliteStore({ path })
    await expect(StoreFixture.open(refused)).rejects.toMatchObject({ code: 'store-damaged' })
    await refused.close()
    acceptLoss(path, folder)
    const again = await openSqliteStore({ path })
    await (await StoreFixture.open(again)).admit('goes on')
    await again.close()
    expect((await diagnose()).map(({ kind }) => kind)).not.toContain('lost-commits')
  })

  it('names a missing table once, even if several checks need it', async () => {
    for (const table of ['reply', 'blob', 'note', 'schedule']) {
      const path = await fileWith(`without-${table}.db`)
      byHand(path, `alter table ${table} rename to taken_away`)
      const reads = await readSqliteStore(path)
      const findings = await examine({ reads })
      await reads.close()
      const missing = { kind: 'store-damaged', what: `its table ${table} is missing` }
      expect(findings).toMatchObject([missing])
    }
  })

  it('finds a word that was changed without updating the chain', async () => {
    const path = await fileWith('damaged.db')
    const database = new DatabaseSync(path)
    for (const { name } of database
      .prepare("select name from sqlite_schema where type = 'trigger' and tbl_name = 'entry'")
      .all())
      database.exec(`drop trigger "${String(name)}"`)
    database.exec(`update entry set body = replace(body, 'orchid', 'cactus')`)
    database.close()
    const reads = await readSqliteStore(path)
    const findings = await examine({ reads })
    await reads.close()
    expect(worstOf(findings)).toBe('fault')
    expect(findings[0]).toMatchObject({
      kind: 'damaged-chain',
      what: expect.stringContaining('does not match its hash'),
    })
  })
})

function byHand(path: string, sql: string): void {
  const database = new DatabaseSync(path)
  database.exec(sql)
  database.close()
}

function indexed(path: string): number {
  return numberIn(path, 'select count(*) as n from word_page')
}

function numberIn(path: string, sql: string): number {
  const database = new DatabaseSync(path, { readOnly: true })
  const found = database.prepare(sql).get()?.['n']
  database.close()
  return Number(found)
}
