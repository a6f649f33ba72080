import { describe, expect, it } from 'vitest'
import type { AuditReport, JudgedLaw } from '#core/audit/audit'
import { AUDIT_LAWS } from '#core/audit/laws/laws'
import { noPaint, type Paint } from '../../terminal/colours.ts'
import { renderAudit } from './report.ts'

const named: Paint = (colour, text) => `${colour}:${text}`
const judged = (changed: Partial<JudgedLaw> = {}) =>
  ({
    law: 'whole',
    holds: true,
    unproven: null,
    offencesCount: 0,
    offences: [],
    ...changed,
  }) as JudgedLaw
const offence = (problem: string, sessionId: string | null = null) => ({
  ...{ problem, sessionId: sessionId as never },
  lines: [{ path: 'a.log', line: 3, text: '{"n":3}' }],
})

function linesOf(laws: readonly JudgedLaw[], changed: Partial<AuditReport> = {}, paint = noPaint) {
  const figures = {
    lines: 1_200,
    sessions: 1,
    compactions: 2,
    messages: 30,
    meanwhile: 4,
    waiting: 5,
  }
  const report = { holds: true, laws, figures, logs: [], ...changed } as unknown as AuditReport
  return renderAudit(report, paint).split('\n')
}
const { title, contract, advice } = AUDIT_LAWS.whole
const numbers = `(${contract.join(', ')})`

describe('renderAudit', () => {
  it('begins with the figures of the logs', () => {
    expect(linesOf([], { logs: [{ path: 'a.log', lines: 1, isTorn: false }] as never })[0]).toBe(
      '1 log, 1,200 lines, 1 session in them, 2 compactions, 30 messages (4 arrived during compactions, 5 still queued)',
    )
  })

  it('marks each law and counts the broken ones', () => {
    expect(linesOf([judged()], {}, named).slice(2)).toEqual([
      ...[`green:✓ ${title} dim:${numbers}`, '', 'green:All 1 laws hold.', ''],
    ])
    const offences = [offence('it is gone', 's-1')] as never
    const broken = judged({ holds: false, offencesCount: 1, offences })
    expect(linesOf([judged(), broken], {}, named).slice(3)).toEqual([
      ...[`red:✗ bold:${title} dim:${numbers}`, '    s-1: it is gone', '      a.log:3  {"n":3}'],
      ...[`    What to do: ${advice}`, '', 'red:1 of 2 laws broken.', ''],
    ])
  })

  it('lists three offences of a law and counts the others', () => {
    const offences = ['a', 'b', 'c', 'd'].map((problem) => offence(problem)) as never
    const shown = (offencesCount: number) =>
      linesOf([judged({ holds: false, offencesCount, offences })]).filter((line) =>
        /^ {4}\S/.test(line),
      )
    const whatToDo = `    What to do: ${advice}`
    expect(shown(1_004)).toEqual(['    a', '    b', '    c', '    and 1,001 more', whatToDo])
    expect(shown(3)).toEqual(['    a', '    b', '    c', whatToDo])
  })

  it('says what the logs do not hold, and asks for the store unless it was given', () => {
    const open = (count: number) => judged({ unproven: { count, first: 'mail 3' } as never })
    const said = (law: JudgedLaw) => linesOf([law], {}, named)[3]
    expect(said(open(1))).toMatch(/^ {4}yellow:not in the logs: mail 3; a process died/)
    expect(said(open(3))).toMatch(/^ {4}yellow:not in the logs: mail 3 and 2 more; a process died/)
    const asksForStore = (laws: readonly JudgedLaw[]) =>
      linesOf(laws).some((line) => line.includes('--store'))
    const ofStore = judged({
      law: Object.keys(AUDIT_LAWS).find((name) => name.startsWith('store-')) as never,
    })
    expect([asksForStore([open(1)]), asksForStore([judged()])]).toEqual([true, false])
    expect(asksForStore([judged(), open(1), ofStore])).toBe(false)
  })

  it('names the logs whose last line is torn', () => {
    const logs = [
      { path: 'a.log', isTorn: true },
      { path: 'b.log', isTorn: false },
    ] as never
    const notes = linesOf([judged()], { logs }).filter((line) => line.startsWith('note:'))
    expect(notes).toEqual([expect.stringContaining('the last line of a.log is torn')])
  })
})
