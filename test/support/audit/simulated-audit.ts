import { Prover } from '../../../packages/core/src/audit/laws/prover.ts'
import type { NewAuditLine } from '../../../packages/core/src/audit/log/line.ts'
import type { AuditWriter } from '../../../packages/core/src/audit/log/log.ts'
import { EvidenceCheck } from '../../../packages/core/src/audit/store-evidence.ts'
import { memoryReads } from '../../../packages/core/src/store/memory/reads.ts'
import type { MemoryTables } from '../../../packages/core/src/store/memory/tables.ts'
import type { Rows } from '../../../packages/core/src/store/rules/ruling.ts'
import { auditedIntake } from '../../../packages/server/src/runtime/store-layers/audited-intake.ts'
import type { Composition } from '../../simulation/composition.ts'
import { runSeed } from '../../simulation/run.ts'

/** Runs one seed with a log for every life of every process, and judges the logs. */
export async function auditSeed(seed: number, composition: Composition): Promise<Prover> {
  const logs: NewAuditLine[][] = []
  const newLog = (): AuditWriter => {
    const lines: NewAuditLine[] = []
    logs.push(lines)
    return { write: (line) => lines.push(line) }
  }
  let tables: Rows | null = null
  const audited: Composition = {
    ...composition,
    rules: {
      ...composition.rules,
      registerRunner(rows, request, stamp) {
        tables = rows
        return composition.rules.registerRunner(rows, request, stamp)
      },
    },
    store: (store) => auditedIntake(composition.store(store), newLog()),
    audit: newLog,
  }
  await runSeed(seed, audited)
  const prover = new Prover()
  for (const [file, lines] of logs.entries()) {
    for (const [index, facts] of lines.entries()) {
      const line = { ...facts, log: `log-${file}`, line: index + 1, time: '' }
      prover.read({ line, mark: { file, line: index + 1 } })
    }
  }
  // The rules are handed the tables themselves, which is more than their type tells.
  const reads = memoryReads(tables as unknown as MemoryTables)
  const check = new EvidenceCheck(
    {
      listSessions: async (query) => reads.listSessions(query),
      readAudit: async (query) => reads.readAudit(query),
      verify: async (query) => reads.verify(query),
    },
    prover,
  )
  await check.run(() => {})
  prover.judge(check)
  return prover
}
