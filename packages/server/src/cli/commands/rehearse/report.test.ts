import { describe, expect, it } from 'vitest'
import { AUDIT_LAWS } from '#core/audit/laws/laws'
import type { Verdict } from '../../../rehearsal/laws/laws.ts'
import type { RehearsalReport } from '../../../rehearsal/report.ts'
import { noPaint, type Paint } from '../../terminal/colours.ts'
import { renderRehearsal } from './report.ts'

const named: Paint = (colour, text) => `${colour}:${text}`
const law = (changed: Partial<Verdict> = {}): Verdict => ({
  ...{ law: 'kept', title: 'Kept', verdict: 'holds', holds: true },
  ...{ unproven: null, offencesCount: 0, offences: [] },
  ...changed,
})
const broken = (offences: readonly string[], offencesCount = offences.length) =>
  law({ title: 'Fits', verdict: 'broken', holds: false, offences, offencesCount })

const FIGURES: RehearsalReport['figures'] = {
  ...{ agents: 1, seconds: 60, windowTokens: 16_000, scenes: 2, compactions: 3 },
  ...{ compactionsFailed: 4, takeOvers: 5, turns: 6, waitsForCompaction: 7, waitsForModel: 8 },
  ...{ requests: 9, requestTokensMax: 10, loopOwnMsMax: 11, loopDelayMsMax: 12 },
  ...{ calibrationMsMax: 50, load: 1.25, kills: 1, freezes: 14, outages: 15, faults: 16 },
  ...{ sent: 1_700, acknowledged: 18, answered: 19, stopped: 20, meanwhile: 21 },
  ...{ asked: 22, lookedUp: 23 },
}

function report(changed: Partial<RehearsalReport> = {}): RehearsalReport {
  return {
    ...{ verdict: 'holds', holds: true, verdicts: [law()], figures: FIGURES, folder: null },
    audit: { holds: true, laws: [], figures: {} as never, logs: [] },
    ...changed,
  }
}
const linesOf = (changed: Partial<RehearsalReport>, paint = noPaint) =>
  renderRehearsal(report(changed), paint).split('\n')

describe('renderRehearsal', () => {
  it('puts each figure beside its name', () => {
    expect(linesOf({}).slice(0, 7)).toEqual([
      '1 agent, 60 seconds, window 16,000',
      'messages    1,700 sent, 18 acknowledged, 19 answered, 20 stopped by a person, 21 during a compaction',
      'compactions 3 committed, 4 failed or abandoned; 7 turns waited for one, 8 for the model',
      'faults      1 kill, 14 freezes, 15 outages, 16 bad answers; 5 take-overs',
      'stage       2 scenes played',
      'questions   22 asked, 23 answered by looking it up',
      'event loop  held by our own work for 11 ms at most; late by 12 ms at most, a thread without work by 50 ms (load 1.3)',
    ])
  })

  it('says when the machine was overloaded', () => {
    const isSaid = (calibrationMsMax: number) =>
      linesOf({ figures: { ...FIGURES, calibrationMsMax } }).some((line) => /overloaded/.test(line))
    expect([isSaid(50), isSaid(51)]).toEqual([false, true])
  })

  it('ends with one sentence when all laws hold', () => {
    expect(linesOf({}, named).slice(-5)).toEqual([
      '',
      'green:✓ Kept',
      '',
      'green:All 1 laws hold.',
      '',
    ])
  })

  it('counts the broken laws, with five offences of each on one line', () => {
    const offences = ['one\ntwo', '2', '3', '4', 'x'.repeat(400), '6']
    const lines = linesOf({ verdicts: [law(), broken(offences, 1_008)] }, named)
    expect(lines.slice(8)).toEqual([
      ...['green:✓ Kept', 'red:✗ bold:Fits', '    one two', '    2', '    3', '    4'],
      ...[`    ${'x'.repeat(300)}`, '    and 1,003 more', '', 'red:1 of 2 laws broken.', ''],
    ])
    expect(linesOf({ verdicts: [broken(['1', '2', '3', '4', '5'])] }).join()).not.toContain('more')
  })

  it('distinguishes laws that were not fully tested from broken ones', () => {
    const open = law({ title: 'Played', verdict: 'not-played', holds: false })
    expect(linesOf({ verdicts: [open, broken([])] }, named).slice(8)).toEqual([
      ...['yellow:? bold:Played', 'red:✗ bold:Fits', '', 'red:1 of 2 laws broken.'],
      'yellow:1 of 2 laws not fully tested.',
      ...[expect.stringContaining('too busy'), ''],
    ])
  })

  it('shows doubts about a law that holds', () => {
    const lines = linesOf({ verdicts: [law({ unproven: 'one line' })] }, named)
    expect(lines.slice(8, 10)).toEqual(['green:✓ Kept', '    yellow:one line'])
  })

  it('judges the laws of the audit with its own', () => {
    const judged = { law: 'whole', unproven: null, offencesCount: 0, offences: [] } as const
    const problem = { sessionId: 's-1', problem: 'it is gone', lines: [] }
    const laws = [
      { ...judged, holds: true, unproven: { count: 1, first: 'mail 3' } },
      {
        ...judged,
        holds: false,
        offencesCount: 2,
        offences: [problem, { ...problem, sessionId: null }],
      },
    ] as never
    const { title } = AUDIT_LAWS.whole
    const audit = { ...report().audit, holds: false, laws }
    expect(linesOf({ verdicts: [], audit }).slice(8)).toEqual([
      ...[`✓ ${title}`, '    not in the logs: mail 3', `✗ ${title}`],
      ...['    s-1 it is gone', '    it is gone', '', '1 of 2 laws broken.', ''],
    ])
  })

  it('names the folder that was kept', () => {
    expect(linesOf({ folder: '/tmp/r' }).at(-2)).toBe('Store and logs: /tmp/r')
  })
})
