import { rmSync } from 'node:fs'
import { replaceFile } from '../../base/files/write.ts'
import type { Reads } from '../contract.ts'
import { DamagedRowError, StoreDamagedError } from '../errors.ts'
import type { StoreFinding } from '../queries.ts'
import { ACCEPT, checkRecord, REPLACE, type RecordedCommit, readRecord } from './commit-record.ts'
import { readBounded } from './read-bounded.ts'

/**
 * A position in the audit chain, stored outside the database. A truncated WAL loses rows and the
 * counters that would reveal it, so the remaining file looks complete. A store without the commit
 * that its anchor names has lost acknowledged commits.
 */
export interface Anchor {
  readonly storeId: string
  readonly commits: number
  readonly hash: string
  /**
   * How far the commit record had been synced when this was written. Absent if the store has no
   * record, or if an older version wrote the anchor.
   */
  readonly recorded?: number
}

/** Undefined if there is no file. A file that is not an anchor gives one that no store matches. */
export function readAnchor(path: string): Anchor | undefined {
  const text = readBounded(path, ANCHOR_BYTES_MAX)
  if (text === undefined) return undefined
  try {
    const { storeId, commits, hash, recorded } = JSON.parse(text ?? '') as Anchor
    if (typeof storeId === 'string' && Number.isInteger(commits)) {
      return { storeId, commits, hash, ...(Number.isInteger(recorded) && { recorded }) }
    }
  } catch {
    // Falls through: a half-written or foreign file must not count as "no anchor".
  }
  return { storeId: NO_STORE, commits: Number.MAX_SAFE_INTEGER, hash: '' }
}

const NO_STORE = ''
/** It has about 150. */
const ANCHOR_BYTES_MAX = 64 * 1024

/** Never moves backwards: if several processes share a store, the furthest position wins. */
export function writeAnchor(path: string, anchor: Anchor): void {
  const present = readAnchor(path)
  const known = present?.storeId === anchor.storeId ? present : undefined
  const isFurther = known === undefined || anchor.commits > known.commits
  const recorded = Math.max(anchor.recorded ?? NO_RECORD, known?.recorded ?? NO_RECORD)
  if (!isFurther && recorded === (known.recorded ?? NO_RECORD)) return
  const furthest = isFurther ? anchor : known
  const merged = { ...furthest, ...(recorded !== NO_RECORD && { recorded }) }
  replaceFile(path, `${JSON.stringify(merged)}\n`, { synced: true })
}

const NO_RECORD = -1

/** The problem, or null: the store must have the anchored commit with the anchored hash. */
export function checkAnchor(
  path: string,
  anchor: Anchor | undefined,
  store: { readonly id: string; readonly commits: number },
  hashAt: (commit: number) => string | undefined,
): string | null {
  if (anchor === undefined || anchor.commits === 0) return null
  if (anchor.storeId === NO_STORE) {
    return `${path} is not the anchor that was written there: it was replaced or damaged, so that lost commits go unnoticed. ${REPLACE}`
  }
  if (anchor.storeId !== store.id) {
    return `its anchor ${path} belongs to another store: this one was replaced, or has lost everything. ${ACCEPT}`
  }
  if (anchor.commits > store.commits) {
    return `it holds ${store.commits} commits and its anchor remembers ${anchor.commits}: acknowledged ones are lost. ${ACCEPT}`
  }
  if (hashAt(anchor.commits) !== anchor.hash) {
    return `its commit ${anchor.commits} is not the one that its anchor remembers: this is another history. ${ACCEPT}`
  }
  return null
}

/**
 * Why the commit record does not match the anchor; null if it does or the anchor names none.
 * Without this check, deleting the record would hide commits that a truncated WAL has lost.
 */
function checkKeptRecord(
  path: string,
  recorded: RecordedCommit | undefined,
  anchor: Anchor | undefined,
  store: { readonly id: string },
): string | null {
  if (anchor?.recorded === undefined || anchor.storeId !== store.id) return null
  if (recorded === undefined) {
    return `its record of commits ${path} is missing, so that lost commits go unnoticed. ${ACCEPT}`
  }
  if (recorded.commits >= anchor.recorded) return null
  return `its record of commits ${path} ends at ${recorded.commits} and its anchor remembers ${anchor.recorded}: it is an older copy or was cut, so that lost commits go unnoticed. ${ACCEPT}`
}

/** The prefix of findings about lost commits. */
export const NOT_ANCHORED = 'the store is not the one that was anchored'

/** Accepts the store as it is: commits that only these files record are given up. */
export function removeAnchor(anchorPath: string, recordPath?: string): void {
  rmSync(anchorPath, { force: true })
  if (recordPath !== undefined) rmSync(recordPath, { force: true })
}

/** Extends `verify` to report commits that only the files beside the store record. */
export function withAnchor<Store extends Reads>(
  store: Store,
  path: string,
  recordPath?: string,
): Store {
  const { verify } = store
  return Object.assign(store, {
    verify: async (query: Parameters<Reads['verify']>[0]): Promise<readonly StoreFinding[]> => {
      const problem = await findLostCommits(store, path, recordPath)
      const findings = await verify(query)
      return problem ? [...findings, { sessionId: null, entry: null, problem }] : findings
    },
  })
}

/** How the store differs from the files beside it; null if it has all commits that they name. */
export async function findLostCommits(
  store: Reads,
  path: string,
  recordPath?: string,
): Promise<string | null> {
  // Read the files first: the store only grows, so it must already have what they name.
  const problem = await findLoss(store, path, readAnchor, checkAnchor)
  if (problem !== null || recordPath === undefined) return problem
  return await findLoss(store, recordPath, readRecord, recordCheck(readAnchor(path)))
}

/** Read the anchor before the record, which only grows. */
export function recordCheck(anchor: Anchor | undefined): Check<RecordedCommit> {
  return (path, recorded, store, hashAt) =>
    checkRecord(path, recorded, store, hashAt) ?? checkKeptRecord(path, recorded, anchor, store)
}

type Check<Memory> = (
  path: string,
  memory: Memory | undefined,
  store: { readonly id: string; readonly commits: number },
  hashAt: (commit: number) => string | undefined,
) => string | null

async function findLoss<Memory extends { readonly commits: number }>(
  store: Reads,
  path: string,
  read: (path: string) => Memory | undefined,
  check: Check<Memory>,
): Promise<string | null> {
  let memory: Memory | undefined
  try {
    memory = read(path)
  } catch (error) {
    return `${path} cannot be read (${(error as NodeJS.ErrnoException).code})`
  }
  const after = Math.max(0, (memory?.commits ?? 0) - 1)
  try {
    const present = await store.readStore()
    const [row] = await store.readAudit({ after, limit: 1 })
    const problem = check(path, memory, present, () => row?.hash)
    return problem === null ? null : `${NOT_ANCHORED}: ${problem}`
  } catch (error) {
    // `verify` itself reports this damage; the comparison must not fail because of it.
    if (!(error instanceof DamagedRowError || error instanceof StoreDamagedError)) throw error
    return `${path} cannot be compared with the audit, which is damaged there`
  }
}
