import { chmodSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { operationId, runnerId, type SessionId } from '#core/base/ids'
import type { Store } from '#core/store/contract'
import { DAMAGE, type Fix, type OwnFinding } from './finding.ts'

/** Functions that the doctor needs from its caller. */
export interface RepairActions {
  readonly openStore: () => Promise<Store>
  /** Tools may have copied the text, and only their runtime knows where. */
  readonly finishErasure: (store: Store, sessionId: SessionId) => Promise<unknown>
}

/**
 * Makes the safe repairs: each is also done by a process that serves the store, or rebuilds data
 * from the transcripts. Reports what it did, and what it left and why. It does not write to a
 * damaged store.
 */
export async function fixFindings(
  findings: readonly OwnFinding[],
  hands: RepairActions,
): Promise<readonly string[]> {
  const fixes = findings.flatMap(({ fix }) => (fix === undefined ? [] : [fix]))
  const told: string[] = []
  // A failed repair must not hide the report.
  const attempt = async ({ kind }: Fix, act: () => string | null | Promise<string | null>) => {
    try {
      const sentence = await act()
      if (sentence !== null) told.push(sentence)
    } catch (error) {
      told.push(`${NAMES[kind]} was left as it is: ${(error as Error).message}`)
    }
  }
  for (const fix of fixes) {
    if (fix.kind === 'make-private') await attempt(fix, () => makePrivate(fix.path))
  }
  const inStore = fixes.filter((fix) => fix.kind !== 'make-private')
  if (inStore.length === 0) return told
  if (findings.some(({ kind }) => DAMAGE.has(kind))) {
    return [...told, 'The store is damaged, so nothing in it was changed.']
  }
  // Before the store is opened, because opening it fills the index again.
  for (const fix of inStore) {
    if (fix.kind === 'rebuild-index') await attempt(fix, () => emptyIndex(fix.path))
  }
  const store = await hands.openStore()
  try {
    for (const fix of inStore) await attempt(fix, async () => await fixInStore(fix, store, hands))
  } finally {
    await store.close()
  }
  return told
}

const NAMES: { readonly [kind in Fix['kind']]: string } = {
  'make-private': 'The mode of a file',
  'rebuild-index': 'The search index',
  'dismiss-runner': 'A runner',
  'fail-operation': 'A compaction',
  'finish-erasure': 'The removal of a session',
}

function makePrivate(path: string): string {
  chmodSync(path, 0o600)
  return `${path} is private now.`
}

async function fixInStore(fix: Fix, store: Store, hands: RepairActions): Promise<string | null> {
  switch (fix.kind) {
    case 'dismiss-runner': {
      const { runner, beat } = fix
      const outcome = await store.dismissRunner({ runner: runnerId(runner), beat })
      return outcome.kind === 'done'
        ? `Runner ${runner} was dismissed; its sessions are free.`
        : `Runner ${runner} is alive after all and was left.`
    }
    case 'fail-operation': {
      const reason = 'its writer is gone'
      const request = { operation: operationId(fix.operation), fence: fix.fence, reason }
      const outcome = await store.failCompaction({ ...request, state: 'failed' })
      return outcome.kind === 'done'
        ? `Compaction ${fix.operation} was given up.`
        : `Compaction ${fix.operation} had ended by itself (${outcome.state}).`
    }
    case 'finish-erasure':
      await hands.finishErasure(store, fix.sessionId)
      return `Nothing is left of session ${fix.sessionId} but its id.`
    default:
      return null
  }
}

/** Also removes the cursors, so the next process to open the store indexes everything again. */
function emptyIndex(path: string): string {
  const database = new DatabaseSync(path, { timeout: 5_000 })
  try {
    database.exec(`begin immediate;
      delete from word_page;
      delete from word_total;
      delete from passage_block;
      delete from indexed;
      update word_runs set runs = '[]';
      insert or ignore into unindexed (id)
        select n << 31 | tail from session where tail > iif(origin is null, 0, forked_at);
      commit`)
  } finally {
    database.close()
  }
  return 'The search index is being rebuilt; until it is ready, searches read the transcripts.'
}
