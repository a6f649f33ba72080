import { closeSync, mkdtempSync, openSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { brokenLaws, lifeOf } from '../../../../../test/support/audit/audit-logs.ts'
import { auditLogs } from '../audit.ts'
import type { NewAuditLine } from './line.ts'
import { AuditLog, operationIdentity } from './log.ts'

const clock = { now: () => 1_800_000_000_000 }
const folder = () => join(mkdtempSync(join(tmpdir(), 'throughline-log-')), 'audit')

describe('AuditLog', () => {
  it('writes a log that breaks no law', async () => {
    const log = new AuditLog({ folder: folder(), clock })
    for (const line of lifeOf('agent-7')) log.write(line)
    log.close()
    const report = await auditLogs({ paths: [log.path], witness: null })
    expect(report).toMatchObject({ holds: true, figures: { lines: 14 }, logs: [{ log: log.id }] })
  })

  it('is a private file of its own', () => {
    const where = folder()
    const logs = [new AuditLog({ folder: where, clock }), new AuditLog({ folder: where, clock })]
    expect(new Set(logs.map(({ path }) => path)).size).toBe(2)
    for (const { path } of logs) expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(where).mode & 0o777).toBe(0o700)
  })

  it('has written each line to its file when write returns', () => {
    const log = new AuditLog({ folder: folder(), clock })
    for (const [index, line] of lifeOf('agent-7').entries()) {
      log.write(line)
      expect(readFileSync(log.path, 'latin1').split('\n').length).toBe(index + 2)
    }
  })

  it('gains exactly one line per write for any ids, and breaks no law', async () => {
    const nasty = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 80 }),
      fc.constantFrom(
        'a\n{"kind":"compaction committed"}',
        'a\r\n"',
        '\u2028\u2029\u001b[0m',
        '"}',
      ),
    )
    await fc.assert(
      fc.asyncProperty(nasty, nasty, async (sessionId, operationId) => {
        const log = new AuditLog({ folder: folder(), clock })
        const lines = lifeOf(sessionId, { 7: { operationId }, 10: { operationId } })
        for (const line of lines) log.write(line)
        expect(readFileSync(log.path, 'latin1').split(/\r\n|\n|\r/).length).toBe(lines.length + 1)
        expect(brokenLaws(await auditLogs({ paths: [log.path], witness: null }))).toEqual([])
      }),
      { numRuns: 50 },
    )
  })

  it('never throws: a failed write is reported once and leaves a gap in the line numbers', async () => {
    const failures: unknown[] = []
    const log = new AuditLog({
      folder: folder(),
      clock,
      onFailure: (error) => failures.push(error),
    })
    const lines = lifeOf('agent-7')
    for (const line of lines.slice(0, 5)) log.write(line)
    // Closing its file makes writes fail, as on a full disk.
    const file = fileOf(log.path)
    closeSync(file)
    for (const line of lines.slice(5, 8)) log.write(line)
    expect(failures).toHaveLength(1)
    expect(openSync(log.path, 'a')).toBe(file)
    for (const line of lines.slice(8)) log.write(line)
    const report = await auditLogs({ paths: [log.path], witness: null })
    expect(report.laws[0]).toMatchObject({ law: 'whole', holds: false })
    const problems = report.laws[0]?.offences.map(({ problem }) => problem)
    expect(problems).toContain('lines 6 to 8 are missing')
  })

  it('drops lines after it is closed, and can be closed twice', () => {
    const log = new AuditLog({ folder: folder(), clock })
    log.close()
    log.close()
    log.write(lifeOf('a')[0] as NewAuditLine)
    expect(readFileSync(log.path, 'latin1')).toBe('')
  })

  it('writes a line even if the clock gives an invalid time', () => {
    for (const now of [Number.NaN, Number.POSITIVE_INFINITY, -1e300]) {
      const log = new AuditLog({ folder: folder(), clock: { now: () => now } })
      log.write(lifeOf('a')[0] as NewAuditLine)
      expect(readFileSync(log.path, 'latin1')).toContain('"time":"')
    }
  })
})

describe('operationIdentity', () => {
  it('is a frozen value', () => {
    const identity = operationIdentity({ operationId: 'op', sessionId: 'a', fence: 1, base: 0 })
    expect(() => Object.assign(identity, { sessionId: 'b' })).toThrow(TypeError)
    expect(identity.sessionId).toBe('a')
  })
})

/** The newest descriptor: the one that the log has just opened. */
function fileOf(path: string): number {
  const probe = openSync(path, 'r')
  closeSync(probe)
  const { ino } = statSync(path)
  for (let file = probe + 8; file > 2; file--) {
    try {
      if (statSync(`/proc/self/fd/${file}`).ino === ino) return file
    } catch {
      // no such descriptor
    }
  }
  throw new Error('the log has no open file')
}
