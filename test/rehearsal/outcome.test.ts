import { describe, expect, it } from 'vitest'
import { isCaught, isClean, readOutcome } from './outcome.ts'

describe('the outcome of a rehearsal', () => {
  it.each([
    ['without a report proves nothing', '', { isCaught: false, isClean: false }],
    ['with a report of nothing proves nothing', '{}', { isCaught: false, isClean: false }],
    ['where every law holds is clean', reportOf([]), { isCaught: false, isClean: true }],
    ['is a catch where a law is broken', reportOf(['kept']), { isCaught: true, isClean: false }],
    [
      'is no catch where only the machine was busy',
      reportOf(['played', 'loop']),
      { isCaught: false, isClean: false },
    ],
    [
      'is a catch where the machine was busy and a law is broken',
      reportOf(['played', 'delivery']),
      { isCaught: true, isClean: false },
    ],
  ])('%s', (_what, stdout, wanted) => {
    const outcome = readOutcome(stdout)
    expect({ isCaught: isCaught(outcome), isClean: isClean(outcome) }).toEqual(wanted)
  })

  it('lists offences of the rehearsal and of the audit with their laws', () => {
    expect(readOutcome(reportOf(['kept', 'delivery'])).offences).toEqual([
      'kept: something',
      'delivery: agent-1 something',
    ])
  })
})

function reportOf(broken: readonly string[]): string {
  const verdicts = ['kept', 'played', 'loop'].map((law) => {
    const holds = !broken.includes(law)
    return { law, holds, offences: holds ? [] : ['something'] }
  })
  const holds = !broken.includes('delivery')
  const offences = holds ? [] : [{ sessionId: 'agent-1', problem: 'something' }]
  return JSON.stringify({ verdicts, audit: { laws: [{ law: 'delivery', holds, offences }] } })
}
