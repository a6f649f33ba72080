import { describe, expect, it } from 'vitest'
import { Findings, LAW_NAMES, LAWS } from './laws.ts'

describe('Findings', () => {
  it('tells of each law whether it holds, and how it is broken', () => {
    const findings = new Findings()
    for (let at = 1; at <= 21; at++) findings.broken('fits', `request ${at}`)
    findings.open('loop', 'it may be the machine')
    const holding = {
      verdict: 'holds',
      holds: true,
      unproven: null,
      offencesCount: 0,
      offences: [],
    }
    const wanted = LAW_NAMES.map((law) => ({ law, title: LAWS[law], ...holding }))
    const verdicts = findings.verdicts()
    expect(verdicts.filter(({ law }) => law !== 'fits' && law !== 'loop')).toEqual(
      wanted.filter(({ law }) => law !== 'fits' && law !== 'loop'),
    )
    expect(verdicts.find(({ law }) => law === 'fits')).toEqual({
      ...{ law: 'fits', title: 'No request is larger than the window', verdict: 'broken' },
      ...{ holds: false, unproven: null, offencesCount: 21 },
      offences: Array.from({ length: 20 }, (_, at) => `request ${at + 1}`),
    })
    expect(verdicts.find(({ law }) => law === 'loop')).toEqual({
      ...{ law: 'loop', title: LAWS.loop, ...holding },
      unproven: 'it may be the machine',
    })
  })

  it('calls only played and compacted not played on an overloaded machine', () => {
    const findings = new Findings()
    for (const law of LAW_NAMES) findings.broken(law, 'somehow')
    const kinds = findings.verdicts({ isOverloaded: true })
    expect(kinds.filter(({ verdict }) => verdict === 'not-played').map(({ law }) => law)).toEqual([
      ...['compacted', 'played'],
    ])
    expect(kinds.filter(({ holds }) => holds)).toEqual([])
  })

  it('is plain as soon as a law is broken that a busy machine does not break', () => {
    const findings = new Findings()
    expect(findings.arePlain).toBe(false)
    findings.broken('played', 'late')
    findings.broken('loop', 'held')
    expect(findings.arePlain).toBe(false)
    findings.broken('compacted', 'agent-1 never was')
    expect(findings.arePlain).toBe(true)
  })
})
