import { DatabaseSync } from 'node:sqlite'
import { diagnoseHermes } from '../../src/doctor/hermes/diagnose.ts'
import { importHermes } from '../../src/doctor/import/hermes.ts'
import { unaccounted } from '../../src/doctor/import/report.ts'
import { repairHermes } from '../../src/doctor/repair/repair.ts'
import { limitsFor } from '../../src/runtime/limits.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'

/** One stage of the benchmark: prints its seconds and the largest memory of its process. */
const [name = '', path = '', to = ''] = process.argv.slice(2)

const STAGES: { readonly [name: string]: () => Promise<string> } = {
  async scan() {
    const database = new DatabaseSync(path, { readOnly: true })
    let bytes = 0
    for (const row of database.prepare('select * from messages').iterate()) {
      bytes += String(row['content']).length
    }
    database.close()
    return `${Math.round(bytes / 1e6)} MB of text.`
  },
  async doctor() {
    const { profiles } = await diagnoseHermes(path)
    return `${profiles[0]?.findings.length} findings.`
  },
  async import() {
    const store = await openSqliteStore({ path: to })
    const { profiles } = await importHermes({
      ...{ path, agent: 'bench', withMemories: false, host: { boot: 'bench', process: 1 } },
      limits: limitsFor({ windowTokens: 200_000, fixedTokens: 0 }),
      target: { isDryRun: false, store },
    })
    await store.close()
    const told = profiles.map(
      ({ rows }) => `${rows.brought} brought, ${unaccounted(rows)} unaccounted for.`,
    )
    return told.join(' ')
  },
  async repair() {
    const { changes } = await repairHermes({ path, to })
    return `${changes.length} changes.`
  },
}

const begunAt = performance.now()
const told = await STAGES[name]?.()
const seconds = (performance.now() - begunAt) / 1_000
console.log(JSON.stringify({ seconds, peakMb: process.resourceUsage().maxRSS / 1024, told }))
