import { hash, randomUUID } from 'node:crypto'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isGone, thisHost } from '../host.ts'

/**
 * Files are written as a draft beside them and then renamed. A process that is killed in between
 * leaves its draft, and the next one to write the same file removes it. The draft's name
 * identifies its writer (`NAME.PROCESS-HOST-RANDOM.new`): two containers may have the same process
 * ids. The random part is new for each draft: in a folder like /tmp another user who knows a name
 * could create the file first.
 */
const { boot, process: own } = thisHost()
const HOST = hash('sha256', boot, 'hex').slice(0, 8)
/** Version 0.1.0 left out the host. SQLite keeps files beside the draft of a database. */
const DRAFT = /^\.(\d{1,10})-(?:([0-9a-f]{8})-)?[0-9a-f]{8}\.new(?:-wal|-shm|-journal)?$/

/**
 * Drafts of this age are removed, even those of other hosts: a writer adds to its draft all the
 * time. One that was frozen for so long fails to rename.
 */
const AGE_MS_MAX = 60 * 60 * 1_000

export function draftOf(path: string): string {
  return `${path}.${own}-${HOST}-${randomUUID().slice(0, 8)}.new`
}

/** Never throws: a draft that cannot be removed costs disk space and no correctness. */
export function sweepDrafts(path: string, now = Date.now()): void {
  const [folder, name] = [dirname(path), basename(path)]
  for (const file of filesIn(folder)) {
    const draft = file.startsWith(name) ? DRAFT.exec(file.slice(name.length)) : null
    if (draft === null) continue
    try {
      const isDead = draft[2] === HOST && isGone({ boot, process: Number(draft[1]) })
      const place = join(folder, file)
      if (isDead || now - statSync(place).mtimeMs > AGE_MS_MAX) rmSync(place, { force: true })
    } catch {
      // Another process has removed it, or the next one will.
    }
  }
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
