import type { ReadStore } from '#core/store/contract'
import { StoreRefusedError } from '#core/store/errors'
import { type Examination, type Examined, examineStore } from './examine.ts'
import { examineFile, examineIndex, judgeSpace, judgeVersion } from './file.ts'
import { DAMAGE, type OwnFinding, unreadable } from './finding.ts'

/**
 * Everything that can be said about a store of ours: by its own reads, and where it is a file, what
 * only the file tells. Never rejects because of the store: one that cannot be opened or read is what
 * the doctor was called for.
 */
export interface OwnExamination extends Omit<Examination, 'reads'> {
  readonly open: () => Promise<ReadStore>
  /** Null: the store is on a server. */
  readonly file: string | null
  /** The version of SQLite that this program runs. */
  readonly sqlite: string
  /** On the disk of the file; null: nobody can tell. */
  readonly freeBytes: number | null
}

export async function diagnoseOwn(examination: OwnExamination): Promise<Examined> {
  const { open, file, sqlite, freeBytes } = examination
  const ofHost = file === null ? [] : [...judgeVersion(sqlite), ...judgeSpace(freeBytes)]
  let reads: ReadStore
  try {
    reads = await open()
  } catch (error) {
    // What was refused may be somebody else's file: who may read that is none of our business.
    const isOurs = file !== null && !(error instanceof StoreRefusedError)
    const ofFile = isOurs ? examineFile(file) : []
    return { sessions: 0, findings: [unreadable(error), ...ofFile, ...ofHost] }
  }
  try {
    const { sessions, findings } = await examineStore({ ...examination, reads })
    const isWhole = findings.every(({ kind }) => !DAMAGE.has(kind))
    const ofFile: readonly OwnFinding[] =
      file === null ? [] : [...examineFile(file), ...examineIndex(file, isWhole)]
    return { sessions, findings: [...findings, ...ofFile, ...ofHost] }
  } finally {
    await reads.close()
  }
}
