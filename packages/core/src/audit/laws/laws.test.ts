import { expect, it } from 'vitest'
import { AuditFindings, LOG_LAWS, type Offence, STORE_LAWS, verdictsOf } from './laws.ts'

it('needs no store for twelve laws, and one for four', () => {
  expect(LOG_LAWS).toEqual([
    ...['whole', 'births', 'identity', 'endings', 'overlap', 'isolation', 'bases', 'delivery'],
    ...['unanswered', 'prompt', 'fences', 'entries'],
  ])
  expect(STORE_LAWS).toEqual([
    ...['store-operations', 'store-sessions', 'store-messages', 'store-transcript'],
  ])
})

it('counts every offence against a law and keeps the first twenty', () => {
  const findings = new AuditFindings()
  const offence = (line: number): Offence => ({
    ...{ law: 'fences', problem: `fence ${line}`, sessionId: 's', marks: [{ file: 0, line }] },
  })
  for (let line = 1; line <= 23; line++) findings.broken(offence(line))
  findings.open('endings', 'the start of c1')
  findings.open('endings', 'the start of c2')
  findings.open('endings', 'the start of c3')
  const kept = Array.from({ length: 20 }, (_, at) => offence(at + 1))
  expect(verdictsOf(findings, ['fences', 'endings', 'births'])).toEqual([
    { law: 'fences', holds: false, offences: kept, offencesCount: 23, unproven: null },
    {
      ...{ law: 'endings', holds: true, offences: [], offencesCount: 0 },
      unproven: { count: 3, first: 'the start of c1' },
    },
    { law: 'births', holds: true, offences: [], offencesCount: 0, unproven: null },
  ])
})
