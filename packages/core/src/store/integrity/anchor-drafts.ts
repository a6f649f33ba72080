import { hash, randomUUID } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isGone, thisHost } from '../../base/host.ts'

/**
 * Anchors and commit records are written to a draft file and then renamed. A process that is killed
 * in between leaves its draft, and the next process to open the store removes it. The draft's name
 * identifies its writer (`NAME.PROCESS-HOST-RANDOM.new`): two containers may have the same process
 * ids.
 */
const { boot, process: own } = thisHost()
const HOST = hash('sha256', boot, 'hex').slice(0, 8)
const MINE = `${own}-${HOST}-${randomUUID().slice(0, 8)}`
/** Version 0.1.0 left out the host. */
const DRAFT = /^\.(\d{1,10})-(?:([0-9a-f]{8})-)?[0-9a-f]{8}\.new$/

/**
 * Drafts of this age are removed, even those of other processes: writing and renaming take
 * milliseconds. A writer that was frozen for so long fails to rename, and its next anchor covers
 * this one.
 */
const AGE_MS_MAX = 60 * 60 * 1_000

export function anchorDraft(path: string): string {
  return `${path}.${MINE}.new`
}

/** Readers see the old text or the new one, even after a power failure. */
export function replaceFile(path: string, text: string): void {
  const draft = anchorDraft(path)
  try {
    const file = openSync(draft, 'w', 0o600)
    try {
      writeSync(file, text)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

/** Never throws: a draft that cannot be removed costs a few bytes and no correctness. */
export function sweepAnchorDrafts(path: string, now = Date.now()): void {
  const [folder, name] = [dirname(path), basename(path)]
  for (const file of filesIn(folder)) {
    const draft = file.startsWith(name) ? DRAFT.exec(file.slice(name.length)) : null
    if (draft === null) continue
    try {
      const isDead = draft[2] === HOST && isGone({ boot, process: Number(draft[1]) })
      const place = join(folder, file)
      if (isDead || now - statSync(place).mtimeMs > AGE_MS_MAX) rmSync(place, { force: true })
    } catch {
      // Another process has removed it, or the next open will.
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
