import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, type TestContext, vi } from 'vitest'
import { LiveAudit } from './live-audit.ts'
import { AuditLog } from './log.ts'

const SESSION = { sessionId: 's' } as const

function open(ctx: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-live-'))
  ctx.onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const openLog = () => {
    const log = new AuditLog({ folder, clock: { now: () => 0 } })
    ctx.onTestFinished(() => log.close())
    return log
  }
  const known = new Set<string>()
  const audit = new LiveAudit(folder, async (id) => known.has(id))
  // Looks in quick succession share one result.
  let now = 0
  const spied = vi.spyOn(performance, 'now').mockImplementation(() => now)
  ctx.onTestFinished(() => spied.mockRestore())
  const look = () => {
    now += 10_000
    return audit.look()
  }
  const broken = async () => {
    const { laws } = await look()
    return laws.filter(({ holds }) => !holds).map(({ law, offencesCount }) => [law, offencesCount])
  }
  return { openLog, known, look, broken }
}

type Log = Pick<AuditLog, 'write'>

function bear(log: Log): void {
  log.write({ kind: 'session created', ...SESSION, operationId: 'o', entry: 0, reason: 'created' })
}

function hold(log: Log, fence: number): void {
  log.write({ kind: 'lease acquired', ...SESSION, entry: 0, base: 0, fence })
}

describe('LiveAudit', () => {
  it('checks the lines written since the last look', async (ctx) => {
    const { openLog, look, broken } = open(ctx)
    const log = openLog()
    bear(log)
    hold(log, 1)
    expect(await look()).toMatchObject({ holds: true, logs: 1, figures: { lines: 2 } })
    hold(log, 1)
    expect(await broken()).toEqual([['fences', 1]])
    // Reported once, however often the audit looks.
    expect(await broken()).toEqual([['fences', 1]])
  })

  it('reports a fault that involves several logs only after two looks agree', async (ctx) => {
    const { openLog, broken } = open(ctx)
    const [creator, holder] = [openLog(), openLog()]
    hold(holder, 1)
    expect(await broken()).toEqual([])
    expect(await broken()).toEqual([['births', 1]])
    bear(creator)
    expect(await broken()).toEqual([])
  })

  it('relies on the store for sessions that are older than the logs', async (ctx) => {
    const { openLog, known, broken } = open(ctx)
    hold(openLog(), 7)
    known.add(SESSION.sessionId)
    expect([await broken(), await broken()]).toEqual([[], []])
  })

  it('reports a log with a line of another program', async (ctx) => {
    const { openLog, broken } = open(ctx)
    const log = openLog()
    bear(log)
    expect(await broken()).toEqual([])
    appendFileSync(log.path, '{"v":1}\n')
    expect(await broken()).toEqual([['whole', 1]])
  })

  it('reports nothing if there are no logs', async () => {
    const audit = new LiveAudit(join(tmpdir(), 'throughline-nowhere'), async () => true)
    expect(await audit.look()).toMatchObject({ holds: true, logs: 0 })
  })
})
