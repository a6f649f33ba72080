import type { ReadStore } from '#core/store/contract'
import { StoreRefusedError } from '#core/store/errors'
import { type Examination, type Examined, examineStore } from './examine.ts'
import { examineFile, examineIndex, judgeSpace, judgeVersion } from './file.ts'
import { DAMAGE, isRepeat, type OwnFinding, unreadable } from './finding.ts'
import { judgeLogs } from './logs.ts'

/**
 * Examines one of our stores: through its own reads and, if it is a file, the file itself. Never
 * rejects because of the store: a store that cannot be opened or read is a finding.
 */
export interface OwnExamination extends Omit<Examination, 'reads'> {
  readonly open: () => Promise<ReadStore>
  /** Null: the store is on a server. */
  readonly file: string | null
  /** The audit logs beside it. */
  readonly logs: readonly string[]
  /** The version of SQLite that this program runs. */
  readonly sqlite: string
  /** Free space on the file's disk; null: unknown. */
  readonly freeBytes: number | null
}

export async function diagnoseOwn(examination: OwnExamination): Promise<Examined> {
  const { open, file, logs, sqlite, freeBytes } = examination
  const ofHost = file === null ? [] : [...judgeVersion(sqlite), ...judgeSpace(freeBytes)]
  let reads: ReadStore
  try {
    reads = await open()
  } catch (error) {
    // A refused file may not be ours, so its permissions are not checked.
    const isOurs = file !== null && !(error instanceof StoreRefusedError)
    const ofFile = isOurs ? examineFile(file) : []
    return { sessions: 0, findings: [unreadable(error), ...ofFile, ...ofHost] }
  }
  try {
    const { sessions, findings } = await examineStore({ ...examination, reads })
    const isWhole = findings.every(({ kind }) => !DAMAGE.has(kind))
    const ofFile: readonly OwnFinding[] =
      file === null ? [] : [...examineFile(file), ...examineIndex(file, isWhole)]
    const others = ofFile.filter((finding) => !isRepeat(findings, finding))
    // A damaged store lacks messages, too, and its findings say why.
    const ofLogs = isWhole ? await judgeLogs(reads, logs) : []
    return { sessions, findings: [...findings, ...ofLogs, ...others, ...ofHost] }
  } finally {
    await reads.close()
  }
}
