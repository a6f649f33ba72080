import { importHermes } from '../../src/doctor/import/hermes.ts'
import type { ImportReport } from '../../src/doctor/import/report.ts'
import { shelve } from '../../src/runtime/blobs.ts'
import type { Store } from '../../src/store/contract.ts'
import { LIMITS } from '../../src/testing/store/desk.ts'

export async function bring(path: string, store: Store): Promise<ImportReport> {
  return await importHermes({
    ...{ path, agent: null, limits: LIMITS, withMemories: false, shelve },
    host: { boot: 'boot', process: 1 },
    target: { isDryRun: false, store },
  })
}
