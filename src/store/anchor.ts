import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { anchorDraft } from './anchor-drafts.ts'
import { ACCEPT, checkRecord, readRecord } from './commit-record.ts'
import type { Reads } from './contract.ts'
import { DamagedRowError, StoreDamagedError } from './errors.ts'
import type { Finding } from './queries.ts'

/**
 * A place in the audit chain, kept outside the database: a WAL that was cut takes the rows and the
 * counters that speak of them alike, and the file that is left looks whole. A store that does not
 * have what its anchor remembers has lost acknowledged commits.
 */
export interface Anchor {
  readonly storeId: string
  readonly commits: number
  readonly hash: string
}

/** Undefined when there is none; a file that is not an anchor is one that nothing fits to. */
export function readAnchor(path: string): Anchor | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    const { storeId, commits, hash } = JSON.parse(text) as Anchor
    if (typeof storeId === 'string' && Number.isInteger(commits)) return { storeId, commits, hash }
  } catch {
    // Falls through: a half-written or foreign file must not pass for "no anchor".
  }
  return { storeId: '', commits: Number.MAX_SAFE_INTEGER, hash: '' }
}

/** Never goes back: with several processes on one store the furthest one counts. */
export function writeAnchor(path: string, anchor: Anchor): void {
  const present = readAnchor(path)
  if (present?.storeId === anchor.storeId && present.commits >= anchor.commits) return
  const temporary = anchorDraft(path)
  try {
    writeSynced(temporary, `${JSON.stringify(anchor)}\n`)
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

function writeSynced(path: string, text: string): void {
  const file = openSync(path, 'w', 0o600)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** What is wrong, or null: the store must hold the anchored commit, with the anchored hash. */
export function checkAnchor(
  path: string,
  anchor: Anchor | undefined,
  store: { readonly id: string; readonly commits: number },
  hashAt: (commit: number) => string | undefined,
): string | null {
  if (anchor === undefined || anchor.commits === 0) return null
  if (anchor.storeId !== store.id) {
    return `its anchor ${path} belongs to another store. ${ACCEPT}`
  }
  if (anchor.commits > store.commits) {
    return `it holds ${store.commits} commits and its anchor remembers ${anchor.commits}: acknowledged ones are lost. ${ACCEPT}`
  }
  if (hashAt(anchor.commits) !== anchor.hash) {
    return `its commit ${anchor.commits} is not the one that its anchor remembers: this is another history. ${ACCEPT}`
  }
  return null
}

/** How a finding begins that tells of lost commits. */
export const NOT_ANCHORED = 'the store is not the one that was anchored'

/** From now on the store as it is counts as whole: what only these files remember is given up. */
export function forgetLoss(anchorPath: string, recordPath?: string): void {
  rmSync(anchorPath, { force: true })
  // Emptied and not removed: a process that has it open goes on writing to it.
  if (recordPath !== undefined && existsSync(recordPath)) truncateSync(recordPath)
}

/** The store, whose `verify` also tells of commits that only files beside it remember. */
export function withAnchor<Store extends Reads>(
  store: Store,
  path: string,
  recordPath?: string,
): Store {
  const { verify } = store
  return Object.assign(store, {
    verify: async (query: Parameters<Reads['verify']>[0]): Promise<readonly Finding[]> => {
      // First: the store only grows, so that it has what they remember before it is looked at.
      const problem =
        (await findLoss(store, path, readAnchor, checkAnchor)) ??
        (recordPath && (await findLoss(store, recordPath, readRecord, checkRecord)))
      const findings = await verify(query)
      return problem ? [...findings, { sessionId: null, entry: null, problem }] : findings
    },
  })
}

async function findLoss<Memory extends { readonly commits: number }>(
  store: Reads,
  path: string,
  read: (path: string) => Memory | undefined,
  check: (
    path: string,
    memory: Memory | undefined,
    store: { readonly id: string; readonly commits: number },
    hashAt: (commit: number) => string | undefined,
  ) => string | null,
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
    // What is harmed there is found by the check itself, which must not end with it.
    if (!(error instanceof DamagedRowError || error instanceof StoreDamagedError)) throw error
    return `${path} cannot be compared with the audit, which is damaged there`
  }
}
