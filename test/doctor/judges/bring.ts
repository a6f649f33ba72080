import { stageParts } from '../../../packages/core/src/session/blobs.ts'
import type { Store } from '../../../packages/core/src/store/contract.ts'
import { LIMITS } from '../../../packages/core/src/store/contract-suite/bench.ts'
import { importHermes } from '../../../packages/server/src/migration/hermes/import/import.ts'
import type { ImportReport } from '../../../packages/server/src/migration/import-report.ts'

export async function bring(
  path: string,
  store: Store,
  { withMemories = false } = {},
): Promise<ImportReport> {
  return await importHermes({
    ...{ path, agent: null, limits: LIMITS, withMemories, stageParts },
    host: { boot: 'boot', process: 1 },
    target: { isDryRun: false, store },
  })
}
