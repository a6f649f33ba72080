import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import type { SessionId } from '../../../base/ids.ts'
import type { CommitVerb, RequestOf } from '../../contract.ts'
import {
  DamagedRowError,
  StoreBusyError,
  StoreDamagedError,
  StoreError,
  StoreRefusedError,
} from '../../errors.ts'
import { checkAnchor, readAnchor, recordCheck, writeAnchor } from '../../integrity/anchor.ts'
import { CommitRecord, readRecord } from '../../integrity/commit-record.ts'
import { applyRule } from '../../rules/rules.ts'
import type { Ruling, StoreChange } from '../../rules/ruling.ts'
import { lastSearched } from '../../search/words.ts'
import { applyChange, auditHashAt, newestAudit, readStoreId } from '../apply.ts'
import { configure, isBusy, SqliteConnection, translateSqliteError } from '../connection.ts'
import { findFileDamage } from '../file-check.ts'
import { OpenFiles } from '../open-files.ts'
import { SqliteRows } from '../rows.ts'
import { migrateSqlite, SQLITE_SCHEMA } from '../schema.ts'
import { SessionNumbers } from '../sessions.ts'
import {
  isOldSqlite,
  recordOf,
  refuseForeignFiles,
  SQLITE_VERSION_MIN,
  takeNames,
  unusableFile,
} from '../store-file.ts'
import { INDEX_PAUSE_MS, IndexWork } from '../words/word-index.ts'
import { Contention, PAUSE_MS, retryDelayMs, sleep } from './retry.ts'
import { WakeCalls } from './wake.ts'
import { WAL_CHECK_MS, WalBound } from './wal-bound.ts'

export interface WriteItem {
  readonly verb: CommitVerb
  readonly request: RequestOf<CommitVerb>
}

export type WriteResult = { readonly outcome: unknown } | { readonly error: unknown }

export interface WriterOptions {
  readonly path: string
  readonly anchorPath: string
  /** How long to wait for the lock before refusing, with nothing acknowledged. */
  readonly busyMs: number
  readonly anchorMs: number
}

/** How long one transaction of the index takes on more sessions. */
const INDEX_MS = 5

/**
 * The one writing connection of a process. Waiting requests are committed together, in order of
 * arrival: one sync for up to 32 commits. A commit is acknowledged only if the WAL it was written
 * to is still the one that all processes see (I26).
 */
export class Writer {
  readonly #options: WriterOptions
  readonly #db: SqliteConnection
  readonly #numbers: SessionNumbers
  readonly #rows: SqliteRows
  readonly #contention = new Contention()
  readonly #indexWork: IndexWork
  readonly #storeId: string
  readonly #files: OpenFiles
  readonly #wakeCalls: WakeCalls
  readonly #wal: WalBound
  /** Undefined in a damaged store: a new file would hide that the old one is missing. */
  readonly #record: CommitRecord | undefined
  #damage: StoreError | undefined
  #committedAt = Number.NEGATIVE_INFINITY
  #unanchored = false
  #anchoredAt = Number.NEGATIVE_INFINITY
  /** Changes with the commits of other connections, never with our own. */
  #version: unknown

  constructor(options: WriterOptions) {
    this.#options = options
    const { path } = options
    this.#wakeCalls = new WakeCalls(path)
    takeNames(path)
    refuseForeignFiles(path)
    try {
      this.#db = new SqliteConnection(path, { readOnly: false, busyMs: 5_000 })
    } catch (error) {
      throw translateSqliteError(error, path)
    }
    this.#wal = new WalBound(this.#db, path)
    try {
      this.#checkLibrary()
      configure(this.#db, { readOnly: false })
      migrateSqlite(this.#db.database, path)
      refuseForeignFiles(path, { areOpen: true })
      this.#numbers = new SessionNumbers(this.#db)
      this.#rows = new SqliteRows(this.#db, this.#numbers)
      this.#indexWork = new IndexWork(this.#db)
      this.#storeId = readStoreId(this.#db)
      this.#damage = this.#findLoss() ?? this.#findDamage()
      if (this.#damage === undefined) this.#record = this.#keepRecord()
      // Only now: while another process recovers the WAL of a killed one, even a read gets
      // SQLITE_BUSY.
      this.#db.exec('pragma busy_timeout = 0')
      this.#files = new OpenFiles(path)
    } catch (error) {
      this.#db.close()
      throw unusableFile(error, path) ?? translateSqliteError(error, path, { isOpening: true })
    }
  }

  #checkLibrary(): void {
    const version = this.#db.get('select sqlite_version() as version')?.['version'] as string
    if (!isOldSqlite(version)) return
    const problem = `SQLite ${version} can lose commits of several writers; ${SQLITE_VERSION_MIN} or newer is needed. The newest Node 24 has it.`
    throw new StoreRefusedError({ path: this.#options.path, problem })
  }

  /**
   * A store that lacks commits recorded in the files beside it continues to read and acknowledges
   * nothing.
   */
  #findLoss(): StoreDamagedError | undefined {
    const { path, anchorPath } = this.#options
    // Read before the store: the store only grows, so it must have what they name.
    const anchor = readAnchor(anchorPath)
    const recorded = readRecord(recordOf(path))
    const store = { id: this.#storeId, commits: newestAudit(this.#db).cursor }
    const hashAt = (commit: number) => auditHashAt(this.#db, commit)
    const problem =
      checkAnchor(anchorPath, anchor, store, hashAt) ??
      recordCheck(anchor)(recordOf(path), recorded, store, hashAt)
    return problem === null ? undefined : new StoreDamagedError({ path, problem })
  }

  /** The anchor must name the record before the first commit that only the record names. */
  #keepRecord(): CommitRecord {
    const { path } = this.#options
    const record = new CommitRecord(recordOf(path), statSync(path).uid)
    this.#writeAnchor(record)
    return record
  }

  #writeAnchor(record: CommitRecord | undefined): void {
    try {
      const { cursor: commits, hash } = newestAudit(this.#db)
      const recorded = record?.sync()
      const known = recorded === undefined ? {} : { recorded }
      writeAnchor(this.#options.anchorPath, { storeId: this.#storeId, commits, hash, ...known })
    } catch {
      // A full disk must not fail a commit that is safe; the next anchor covers this one.
    }
  }

  /** A malformed file could accept a message and fail to return it. */
  #findDamage(): StoreDamagedError | undefined {
    const { path } = this.#options
    try {
      const problem = findFileDamage(this.#db)
      return problem === null ? undefined : new StoreDamagedError({ path, problem })
    } catch (error) {
      const known = translateSqliteError(error, path)
      if (known instanceof StoreDamagedError) return known
      throw error
    }
  }

  /**
   * Whether another process has committed since the last call. False for a damaged file: its reads
   * report the error, and the thread continues for all other stores.
   */
  hasNews(): boolean {
    try {
      const before = this.#version
      this.#version = this.#db.get('pragma data_version')?.['data_version']
      if (this.#version === before) return false
      if (this.#damage === undefined) this.#wal.hearOthers()
      return true
    } catch {
      return false
    }
  }

  /** A copy has no files beside it that record lost commits: it would pass for whole. */
  refuseIfDamaged(): null {
    if (this.#damage !== undefined) throw this.#damage
    return null
  }

  /** Results in the order of the items. Never throws: a failure becomes that item's error. */
  commit(items: readonly WriteItem[]): readonly WriteResult[] {
    if (this.#damage !== undefined) return items.map(() => ({ error: this.#damage }))
    try {
      return this.#transact(items)
    } catch (error) {
      if (this.#db.database.isTransaction) this.#db.exec('rollback')
      // One failing item must not fail the others of its batch.
      const isOfOne = error instanceof DamagedRowError || !(error instanceof StoreError)
      if (items.length > 1 && isOfOne) {
        return items.flatMap((item) => this.commit([item]))
      }
      const known = translateSqliteError(error, this.#options.path)
      if (known instanceof StoreDamagedError) this.#damage = known
      return items.map(() => ({ error: known }))
    }
  }

  #transact(items: readonly WriteItem[]): readonly WriteResult[] {
    this.#begin()
    const changes: StoreChange[] = []
    const results = items.map(({ verb, request }): WriteResult => {
      const stamp = { at: Date.now(), seed: randomBytes(16).toString('hex') }
      let ruling: Ruling<unknown>
      try {
        ruling = applyRule(verb, this.#rows, request, stamp)
      } catch (error) {
        // Rules only read, so a request that a rule refuses has written nothing.
        if (error instanceof StoreError || error instanceof RangeError) return { error }
        throw error
      }
      if (ruling.change !== undefined) {
        applyChange(this.#db, this.#numbers, ruling.change, stamp.at)
        changes.push(ruling.change)
      }
      return { outcome: ruling.outcome }
    })
    const numbers = this.#numbersOf(changes)
    const newest = changes.some(({ audit = [] }) => audit.length > 0) ? newestAudit(this.#db) : null
    this.#db.exec('commit')
    if (changes.some(({ erase }) => erase !== undefined)) this.#wal.noteErased()
    this.#contention.committed()
    this.#committedAt = performance.now()
    if (changes.length > 0) this.#check(this.#files.findDamageAfter())
    // A commit that changed nothing moves no anchor: waiting for the next one kept this thread
    // busy.
    if (newest !== null) {
      this.#unanchored = true
      this.#recordCommit(newest)
    }
    this.#follow(changes, numbers)
    return results
  }

  #begin(): void {
    const started = performance.now()
    // After a commit, this process pauses briefly while others are waiting.
    if (this.#contention.seen) sleep(PAUSE_MS - (started - this.#committedAt))
    for (let tries = 0; ; tries++) {
      try {
        this.#db.exec('begin immediate')
        break
      } catch (error) {
        if (!isBusy(error)) throw error
        this.#contention.refused()
        const waitedMs = performance.now() - started
        if (waitedMs > this.#options.busyMs) {
          throw new StoreBusyError({ waitedMs, problem: 'other processes hold the write lock' })
        }
        sleep(retryDelayMs(waitedMs, tries, Math.random()))
      }
    }
    // Before anything is written: the rest of a damaged WAL may contain other processes' commits.
    this.#check(this.#files.findDamageBefore())
    const schema = this.#db.get('pragma user_version')?.['user_version']
    if (schema !== SQLITE_SCHEMA) {
      this.#check(
        `a newer program has changed its schema to ${schema} while this one (${SQLITE_SCHEMA}) was running. Restart with the newer one.`,
      )
    }
    this.#boundRecord()
  }

  #recordCommit({ cursor, hash }: ReturnType<typeof newestAudit>): void {
    try {
      this.#record?.add(cursor, hash)
    } catch {
      // A full disk must not fail a commit that is safe; the next one is recorded.
    }
  }

  /** Under the write lock: no other process can be further than the newest commit here. */
  #boundRecord(): void {
    try {
      this.#record?.reopenIfReplaced()
      if (this.#record?.isLong() !== true) return
      const { cursor, hash } = newestAudit(this.#db)
      this.#record.shorten(cursor, hash)
    } catch {
      // The file grows a little more until it can be replaced.
    }
  }

  #check(problem: string | null): void {
    if (problem !== null) throw new StoreDamagedError({ path: this.#options.path, problem })
  }

  /**
   * The numbers of the sessions that the changes concern, read inside the transaction, where no lock
   * is in the way.
   */
  #numbersOf(changes: readonly StoreChange[]): ReadonlyMap<SessionId, number> {
    const sessions = changes.flatMap((change) => change.sessions ?? []).map(({ after }) => after.id)
    const grown = changes.flatMap((change) => change.entries ?? []).map((each) => each.sessionId)
    return new Map([...sessions, ...grown].map((id) => [id, this.#numbers.get(id)]))
  }

  /** Follow-up work for a commit that is already durable: nothing here may fail it. */
  #follow(changes: readonly StoreChange[], numbers: ReadonlyMap<SessionId, number>): void {
    for (const [id, n] of numbers) this.#numbers.remember(id, n)
    for (const { entries = [] } of changes) {
      for (const id of lastSearched({ entries }).keys()) {
        const n = numbers.get(id)
        if (n !== undefined) this.#indexWork.add(n, entries.length)
      }
    }
    this.#wakeCalls.follow(changes)
    if (this.#options.anchorMs === 0) this.anchor()
  }

  /**
   * Deferred work: one batch of indexing, the anchor, a WAL that has grown. Does a little of it and
   * returns the delay after which there is more, or null if nothing is left.
   */
  maintain(): number | null {
    if (this.#damage !== undefined) return null
    if (this.#indexWork.isDue(performance.now(), this.#committedAt)) this.#index()
    const now = performance.now()
    const anchorAt = this.#anchoredAt + this.#options.anchorMs
    if (this.#unanchored && now >= anchorAt) this.anchor()
    this.#wal.bound(now)
    if (this.#indexWork.isLeft) return INDEX_PAUSE_MS
    if (this.#unanchored) return anchorAt - now
    return this.#wal.holdsErased ? WAL_CHECK_MS : null
  }

  /**
   * After the appends, and only if the lock is free, so that no commit waits for the index. One
   * transaction for many sessions: with one for each, 500 of them kept this thread busy for 10 s.
   */
  #index(): void {
    const started = performance.now()
    try {
      this.#db.exec('begin immediate')
      this.#check(this.#files.findDamageBefore())
      const committed = this.#indexWork.step(() => performance.now() - started > INDEX_MS)
      this.#db.exec('commit')
      committed()
    } catch (error) {
      if (this.#db.database.isTransaction) this.#db.exec('rollback')
      if (error instanceof StoreDamagedError) this.#damage = error
      // Busy: another process writes, so try again soon.
      if (!isBusy(error)) this.#indexWork.giveUp()
    }
  }

  /** Records the newest commit outside the database. */
  anchor(): void {
    if (this.#damage !== undefined || !this.#unanchored) return
    this.#anchoredAt = performance.now()
    this.#unanchored = false
    this.#writeAnchor(this.#record)
  }

  close(): void {
    this.anchor()
    // Other processes may keep the WAL alive after this one closes.
    if (this.#wal.holdsErased && this.#damage === undefined) this.#wal.empty()
    // First, because Windows keeps an open file, and SQLite is about to remove the WAL.
    this.#files.close()
    this.#record?.close()
    this.#db.close()
  }
}
