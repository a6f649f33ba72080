import { existsSync } from 'node:fs'
import { isGone, thisHost } from '../base/host.ts'
import type { ImportTarget } from '../doctor/import/hermes.ts'
import { changedKinds } from '../doctor/import/kinds.ts'
import { type ImportReport, unaccounted } from '../doctor/import/report.ts'
import { renderImport } from '../doctor/report/import-text.ts'
import { shelve } from '../runtime/blobs.ts'
import { limitsFor } from '../runtime/limits.ts'
import type { ReadStore } from '../store/contract.ts'
import { EXIT } from './exit.ts'
import { writeOutput } from './output.ts'
import type { PlaceFlags } from './place-options.ts'
import { ProgressLine } from './progress.ts'
import { jsonLine } from './tell.ts'

/** Where histories from elsewhere are brought, or only looked for, and how that is told. */
export interface BringFlags extends PlaceFlags {
  readonly dryRun?: true
  readonly json?: true
}

/** Until an agent of that name is configured; its own limits take over with its first turn. */
const WINDOW_TOKENS = 200_000

export async function bringInto(
  flags: BringFlags,
  bring: (target: ImportTarget, progress: ProgressLine) => Promise<ImportReport>,
): Promise<number> {
  const progress = new ProgressLine('Reading')
  const limits = limitsFor({ windowTokens: WINDOW_TOKENS, fixedTokens: 0 })
  const run = async (target: ImportTarget['target']) => {
    const report = await bring({ limits, shelve, host: thisHost(), isGone, target }, progress)
    progress.end()
    await writeOutput('-', flags.json ? jsonLine(report) : renderImport(report))
    return codeOf(report)
  }
  try {
    if (flags.dryRun) return await lookOnly(flags, (reads) => run({ isDryRun: true, reads }))
    const { withStore } = await import('./store-place.ts')
    return await withStore(flags, async (store) => await run({ isDryRun: false, store }), {
      mayMake: true,
    })
  } finally {
    progress.end()
  }
}

/** A store that is not there yet is not made by looking. */
async function lookOnly(
  flags: PlaceFlags,
  act: (reads: ReadStore | null) => Promise<number>,
): Promise<number> {
  const { storeOf, withStoreToRead } = await import('./store-place.ts')
  const { isServer } = await import('../runtime/open-store.ts')
  const { url } = await storeOf(flags)
  if (!isServer(url) && !existsSync(url)) return await act(null)
  return await withStoreToRead(flags, act)
}

function codeOf({ profiles, unread }: ImportReport): number {
  const areWhole = profiles.every(
    ({ rows, kinds, conversations }) =>
      rows.left === 0 &&
      unaccounted(rows) === 0 &&
      (kinds === null || changedKinds(kinds) === 0) &&
      conversations.every(({ outcome }) => outcome !== 'unreadable'),
  )
  return areWhole && unread.length === 0 ? EXIT.done : EXIT.failed
}
