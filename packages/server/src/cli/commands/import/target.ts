import { existsSync } from 'node:fs'
import { isGone, thisHost } from '#core/base/host'
import { stageParts } from '#core/session/blobs'
import { limitsFor } from '#core/session/limits'
import type { ReadStore } from '#core/store/contract'
import type { StoreFlags } from '../../../host/flags.ts'
import type { ImportTarget } from '../../../migration/hermes/import/import.ts'
import { changedKinds } from '../../../migration/hermes/import/kinds.ts'
import { type ImportReport, unaccounted } from '../../../migration/import-report.ts'
import { renderImport } from '../../../migration/import-text.ts'
import { EXIT } from '../../exit.ts'
import { writeOutput, writeReport } from '../../terminal/output.ts'
import { ProgressLine } from '../../terminal/progress.ts'
import { jsonLine } from '../../terminal/stderr.ts'

/** Flags of commands that import histories of other programs. */
export interface BringFlags extends StoreFlags {
  readonly dryRun?: true
  readonly json?: true
}

/** Used until an agent of that name is configured; its own limits apply from its first turn. */
const WINDOW_TOKENS = 200_000

export async function bringInto(
  flags: BringFlags,
  bring: (target: ImportTarget, progress: ProgressLine) => Promise<ImportReport>,
): Promise<number> {
  const progress = new ProgressLine('Reading')
  const limits = limitsFor({ windowTokens: WINDOW_TOKENS, fixedTokens: 0 })
  const run = async (target: ImportTarget['target']) => {
    const report = await bring({ limits, stageParts, host: thisHost(), isGone, target }, progress)
    progress.end()
    if (flags.json) await writeOutput('-', jsonLine(report))
    else await writeReport(renderImport(report))
    return codeOf(report)
  }
  try {
    if (flags.dryRun) return await lookOnly(flags, (reads) => run({ isDryRun: true, reads }))
    const { withStore } = await import('../../../host/store-selection.ts')
    return await withStore(flags, async (store) => await run({ isDryRun: false, store }), {
      mayMake: true,
    })
  } finally {
    progress.end()
  }
}

/** A dry run does not create the store. */
async function lookOnly(
  flags: StoreFlags,
  act: (reads: ReadStore | null) => Promise<number>,
): Promise<number> {
  const { storeOf, withStoreToRead } = await import('../../../host/store-selection.ts')
  const { isServer } = await import('../../../host/open-store.ts')
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
