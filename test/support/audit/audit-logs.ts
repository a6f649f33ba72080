import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AuditReport, auditLogs } from '../../../packages/core/src/audit/audit.ts'
import type { AuditLawName } from '../../../packages/core/src/audit/laws/laws.ts'
import {
  firstLineHash,
  type NewAuditLine,
  writeLine,
} from '../../../packages/core/src/audit/log/line.ts'
import type { StoreEvidence } from '../../../packages/core/src/audit/store-evidence.ts'

/** A log as a process with a clock of its own would have written it. */
export function logText(
  lines: readonly NewAuditLine[],
  { log = 'log-one', clock = (line: number) => 1_800_000_000_000 + line } = {},
): string {
  let hash = firstLineHash(log)
  return lines
    .map((facts, index) => {
      const line = index + 1
      const time = new Date(clock(line)).toISOString()
      const written = writeLine({ ...facts, log, line, time }, hash)
      hash = written.hash
      return `${written.text}\n`
    })
    .join('')
}

export function logFiles(texts: readonly string[]): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-audit-'))
  return texts.map((text, index) => {
    const path = join(folder, `${index + 1}.jsonl`)
    writeFileSync(path, text)
    return path
  })
}

export function auditTexts(
  texts: readonly string[],
  witness: StoreEvidence | null = null,
): Promise<AuditReport> {
  return auditLogs({ paths: logFiles(texts), witness })
}

export function brokenLaws(report: AuditReport): readonly AuditLawName[] {
  return report.laws.filter((law) => !law.holds).map(({ law }) => law)
}

type Changes = { readonly [field: string]: unknown }

/**
 * One session's life in short: a turn, a compaction during which messages 2 and 3 come, a turn that
 * takes them. Each line can be changed on the way, by its number from 1.
 */
export function lifeOf(sessionId: string, changes: { readonly [line: number]: Changes } = {}) {
  const operation = { operationId: `${sessionId}-op`, base: 0, fence: 1 }
  const lines = [
    { kind: 'session created', operationId: `${sessionId}-birth`, entry: 0, reason: 'created' },
    { kind: 'message admitted', mailbox: { from: 1, to: 1 }, reason: 'user' },
    { kind: 'lease acquired', entry: 0, base: 0, fence: 1 },
    { kind: 'message delivered', entry: 1, mailbox: { from: 1, to: 1 }, fence: 1, reason: 'user' },
    { kind: 'turn started', operationId: 'turn-1', entry: 1, base: 0, fence: 1 },
    { kind: 'turn ended', operationId: 'turn-1', entry: 3, base: 0, fence: 1, reason: 'answered' },
    { kind: 'compaction started', ...operation, entry: 3, trigger: 'background', reason: 'soft' },
    { kind: 'message admitted', mailbox: { from: 2, to: 2 }, reason: 'user' },
    { kind: 'message admitted', mailbox: { from: 3, to: 3 }, reason: 'user' },
    { kind: 'compaction committed', ...operation, entry: 4, mailbox: { from: 2, to: 3 } },
    { kind: 'message delivered', entry: 6, mailbox: { from: 2, to: 3 }, fence: 1, reason: 'user' },
    { kind: 'turn started', operationId: 'turn-2', entry: 6, base: 4, fence: 1 },
    { kind: 'turn ended', operationId: 'turn-2', entry: 8, base: 4, fence: 1, reason: 'answered' },
    { kind: 'lease lost', fence: 1, reason: 'released' },
  ]
  return lines.map((line, index) => ({
    sessionId,
    ...line,
    ...changes[index + 1],
  })) as unknown as NewAuditLine[]
}
