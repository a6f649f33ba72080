import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import {
  newOperation,
  replyTo,
  StoreFixture,
} from '../../packages/core/src/store/contract-suite/bench.ts'
import { openSqliteStore } from '../../packages/core/src/store/sqlite/open.ts'
import { readSqliteStore } from '../../packages/core/src/store/sqlite/read.ts'
import { diagnoseOwn, type OwnExamination } from '../../packages/server/src/doctor/diagnose.ts'
import { sqliteVersion } from '../../packages/server/src/doctor/file.ts'
import type { OwnDiagnosis, OwnFinding } from '../../packages/server/src/doctor/finding.ts'
import { fixFindings, type RepairActions } from '../../packages/server/src/doctor/fix.ts'
import { renderOwn } from '../../packages/server/src/doctor/text.ts'
import { finishErasure } from '../../packages/server/src/runtime/store-layers/purge.ts'
import { until } from '../support/until.ts'

/**
 * Every check of the doctor on our own store, as a table: a fault planted in the file of a sound
 * store is found as what it is and as nothing else; what can be mended is mended, and then found no
 * more. The sound store itself is silent.
 */
const folder = mkdtempSync(join(tmpdir(), 'throughline-own-laws-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const HOUR = 3_600_000
const MS_MAX = 60_000

interface Law {
  readonly kind: string
  readonly severity: OwnFinding['severity']
  /** Changes the closed file, or says how it is looked at. */
  readonly plant: (path: string) => Partial<OwnExamination> | undefined | Promise<undefined>
  readonly isMended: boolean
}

const LAWS: readonly Law[] = [
  {
    ...{ kind: 'damaged-chain', severity: 'fault', isMended: false },
    plant: (path) => byHand(path, `update entry set body = replace(body, 'orchid', 'cactus')`),
  },
  {
    ...{ kind: 'dead-runner', severity: 'warning', isMended: true },
    async plant(path) {
      const store = await openSqliteStore({ path })
      await register(store, { id: 'dead', startedAt: Date.now() - HOUR })
      await store.close()
      return undefined
    },
  },
  {
    ...{ kind: 'lease-from-the-future', severity: 'warning', isMended: false },
    async plant(path) {
      const store = await openSqliteStore({ path })
      await register(store, { id: 'tomorrow', startedAt: Date.now() + 24 * HOUR })
      await store.close()
      return undefined
    },
  },
  {
    ...{ kind: 'orphaned-claim', severity: 'warning', isMended: true },
    async plant(path) {
      await inSession(path, async (fixture) => {
        await fixture.exchange('one', 'two')
        await fixture.claim(1)
      })
      return undefined
    },
  },
  {
    ...{ kind: 'turn-left', severity: 'warning', isMended: false },
    async plant(path) {
      await inSession(path, async (fixture) => {
        await fixture.hear('and now?')
      })
      return undefined
    },
  },
  {
    ...{ kind: 'erasure-left', severity: 'warning', isMended: true },
    async plant(path) {
      await inSession(path, async (fixture, store) => {
        await fixture.exchange('forget me', 'soon')
        const operation = newOperation()
        await store.deleteSession({ sessionId: fixture.id, operation, reason: 'asked' })
      })
      return undefined
    },
  },
  {
    ...{ kind: 'unsettled-mail', severity: 'fault', isMended: false },
    async plant(path) {
      await inSession(path, async (fixture) => {
        await fixture.hear('and now?')
      })
      return byHand(path, `update session set turn_state = 'idle', seal = null`)
    },
  },
  {
    ...{ kind: 'outbox-stuck', severity: 'warning', isMended: false },
    async plant(path) {
      await inSession(path, async (fixture) => {
        await fixture.exchange('send it', 'sent', [replyTo('7')])
      })
      return undefined
    },
  },
  {
    ...{ kind: 'outbox-dead', severity: 'fault', isMended: false },
    async plant(path) {
      await inSession(path, async (fixture, store) => {
        await fixture.exchange('send it', 'sent', [replyTo('8')])
        const claimant = fixture.lease.runner
        const claimed = await store.claimReply({ edge: 'telegram', claimant, at: Date.now() })
        if (claimed.kind !== 'claimed') throw new Error('nothing to send')
        const { sessionId, number, attempt } = claimed.reply
        const result = { kind: 'failed', retryAt: 0, attemptsMax: 1 } as const
        await store.settleReply({ sessionId, number, attempt, claimant, result })
      })
      return undefined
    },
  },
  {
    ...{ kind: 'unserved-agent', severity: 'note', isMended: false },
    plant: () => ({ agents: ['somebody-else'] }),
  },
  {
    ...{ kind: 'clock', severity: 'warning', isMended: false },
    plant: () => ({ now: Date.now() - 24 * HOUR }),
  },
  {
    ...{ kind: 'open-to-others', severity: 'warning', isMended: true },
    plant(path) {
      chmodSync(path, 0o644)
      return undefined
    },
  },
  {
    ...{ kind: 'large-wal', severity: 'warning', isMended: false },
    plant(path) {
      leaveWal(path)
      // Behind the last frame that counts; such a file costs nothing.
      truncateSync(`${path}-wal`, 300 * 1024 * 1024)
      return undefined
    },
  },
  {
    ...{ kind: 'no-evidence', severity: 'note', isMended: false },
    plant(path) {
      for (const file of [`${path}.anchor`, `${path}.commits`]) rmSync(file)
      return undefined
    },
  },
  {
    ...{ kind: 'index-drift', severity: 'warning', isMended: true },
    plant: (path) => byHand(path, 'delete from word_page'),
  },
  {
    ...{ kind: 'old-sqlite', severity: 'fault', isMended: false },
    plant: () => ({ sqlite: '3.51.2' }),
  },
  {
    ...{ kind: 'little-space', severity: 'warning', isMended: false },
    plant: () => ({ freeBytes: 10 * 1024 * 1024 }),
  },
  {
    ...{ kind: 'store-damaged', severity: 'fault', isMended: false },
    plant(path) {
      truncateSync(path, statSync(path).size >> 1)
      return undefined
    },
  },
  {
    ...{ kind: 'store-refused', severity: 'fault', isMended: false },
    plant(path) {
      writeFileSync(path, 'no store at all, but a letter that somebody has put there')
      chmodSync(path, 0o644)
      return undefined
    },
  },
  {
    ...{ kind: 'store-damaged', severity: 'fault', isMended: false },
    plant: (path) => byHand(path, 'drop table runner'),
  },
]

describe('the doctor of our own store', () => {
  it(
    'is silent about a store in which nothing is wrong',
    async () => {
      const path = await soundStore('sound')
      expect(kindsOf(await examine(path, {}))).toEqual([])
    },
    MS_MAX,
  )

  it.each(LAWS.map((law) => [law.kind, law] as const))(
    'finds %s as what it is, and mends it where that is safe',
    async (kind, { plant, severity, isMended }) => {
      const path = await soundStore(kind)
      const terms = (await plant(path)) ?? {}
      const found = await examine(path, terms)
      expect(found.map((one) => [one.kind, one.severity])).toEqual([[kind, severity]])
      for (const { what, advice } of found) {
        expect(what).not.toBe('')
        expect(advice).not.toBe('')
      }
      expect(found.some(({ fix }) => fix !== undefined)).toBe(isMended)
      if (!isMended) return
      const fixed = await fixFindings(found, handsFor(path))
      expect(fixed).toHaveLength(1)
      expect(kindsOf(await examine(path, terms))).toEqual([])
    },
    MS_MAX,
  )
})

describe('a damaged Throughline store', () => {
  it(
    'gets a verdict wherever the damage is, and --fix does not change it',
    async () => {
      const path = await soundStore('pages')
      const whole = readFileSync(path)
      let faults = 0
      for (let at = 0; at < whole.length; at += PAGE_BYTES) {
        const bytes = Buffer.from(whole)
        // Behind the head of the page, so that its cells are what lies about themselves.
        for (let byte = at + 100; byte < at + PAGE_BYTES; byte += 37) bytes[byte] = byte & 0xff
        writeFileSync(path, bytes)
        const findings = await examine(path, {})
        expect(() => renderOwn(diagnosisOf(path, findings))).not.toThrow()
        if (findings.some(({ severity }) => severity === 'fault')) {
          faults += 1
          await fixFindings(findings, handsFor(path))
          expect(readFileSync(path).equals(bytes)).toBe(true)
        }
      }
      expect(faults).toBeGreaterThan(5)
    },
    MS_MAX,
  )

  it('without its search index is judged as far as it goes', async () => {
    const path = await soundStore('no-index')
    byHand(path, 'drop table indexed')
    expect(kindsOf(await examine(path, {}))).toEqual(['store-damaged'])
  })

  it('may name times that no clock has', () => {
    const finding = { kind: 'clock', severity: 'warning', what: 'Odd.', advice: 'Look.' } as const
    const findings = [{ ...finding, since: 1e18, sessionIds: [] }]
    expect(renderOwn(diagnosisOf('x.db', findings))).toContain('WARNING  clock\n')
  })

  it('says which session is damaged, and judges the others', async () => {
    const path = await soundStore('one-of-two')
    await inSession(path, async (fixture) => {
      await fixture.hear('and now?')
    })
    byHand(path, `update entry set meta = '{' where id = (select min(id) from entry)`)
    const findings = await examine(path, {})
    expect(kindsOf(findings).sort()).toEqual(['damaged-chain', 'turn-left'])
    expect(new Set(findings.flatMap(({ sessionIds }) => sessionIds)).size).toBe(2)
  })
})

const PAGE_BYTES = 4_096

const handsFor = (path: string): RepairActions => ({
  openStore: () => openSqliteStore({ path }),
  finishErasure: (store, id) => finishErasure({ store, countTokens: () => 1 }, id),
})

function diagnosisOf(store: string, findings: readonly OwnFinding[]): OwnDiagnosis {
  const about = { format: 'throughline-doctor', version: 1, examinedAt: '' } as const
  return { ...about, store, sessions: 1, findings, fixed: [] }
}

const kindsOf = (findings: readonly OwnFinding[]) => findings.map(({ kind }) => kind)

async function examine(
  path: string,
  terms: Partial<OwnExamination>,
): Promise<readonly OwnFinding[]> {
  const isGone: OwnExamination['isGone'] = ({ id }) => id === 'dead'
  const now = Date.now() + (terms.now === undefined ? HOUR : 0)
  const { findings } = await diagnoseOwn({
    ...{ now, isGone, agents: null, file: path, logs: [], sqlite: sqliteVersion(), freeBytes: 1e9 },
    open: async () => await readSqliteStore(path),
    ...terms,
  })
  return findings
}

type Opened = Awaited<ReturnType<typeof openSqliteStore>>

let sound: string | undefined

/** Made once; each law gets a copy. */
async function soundStore(name: string): Promise<string> {
  sound ??= await makeSound(join(folder, 'original.db'))
  const path = join(folder, `${name}.db`)
  for (const suffix of ['', '.anchor', '.commits']) {
    if (existsSync(sound + suffix)) copyFileSync(sound + suffix, path + suffix)
  }
  return path
}

async function makeSound(path: string): Promise<string> {
  await inSession(path, async (fixture) => {
    await fixture.exchange('where is the orchid', 'in the greenhouse')
  })
  // Whether the index had caught up when the store was closed is not said.
  const store = await openSqliteStore({ path })
  await until(async () => indexed(path) > 0)
  await store.close()
  return path
}

/** One session under a lease, whose holder retires at the end. */
async function inSession(
  path: string,
  act: (fixture: StoreFixture, store: Opened) => Promise<void>,
): Promise<void> {
  const store = await openSqliteStore({ path })
  const fixture = await StoreFixture.open(store)
  await act(fixture, store)
  await store.retireRunner({ runner: fixture.lease.runner })
  await store.close()
}

async function register(
  store: Opened,
  { id, startedAt }: { readonly id: string; readonly startedAt: number },
): Promise<void> {
  const { runnerId } = await import('../../packages/core/src/base/ids.ts')
  const about = { boot: 'b', process: 2, leaseMs: HOUR }
  await store.registerRunner({ ...about, id: runnerId(id), startedAt })
}

/** As a process leaves it that was killed: content in the log, and its index beside it. */
function leaveWal(path: string): void {
  const writing = new DatabaseSync(path)
  writing.exec('pragma wal_autocheckpoint = 0; update store set id = id')
  for (const suffix of ['-wal', '-shm']) copyFileSync(path + suffix, `${path}.left${suffix}`)
  writing.close()
  for (const suffix of ['-wal', '-shm']) {
    renameSync(`${path}.left${suffix}`, path + suffix)
    chmodSync(path + suffix, 0o600)
  }
}

function byHand(path: string, sql: string): undefined {
  const database = new DatabaseSync(path)
  for (const { name } of database
    .prepare("select name from sqlite_schema where type = 'trigger' and tbl_name = 'entry'")
    .all()) {
    database.exec(`drop trigger "${String(name)}"`)
  }
  database.exec(sql)
  database.close()
}

function indexed(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true })
  const count = database.prepare('select count(*) as n from word_page').get()?.['n']
  database.close()
  return Number(count)
}
