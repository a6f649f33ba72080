import { describe, expect, it } from 'vitest'
import { sessionId } from '../../base/ids.ts'
import type { Entry } from '../../store/tables/rows.ts'
import { adoptedOperation } from './adopted-compaction.ts'

const MADE = {
  ...{ trigger: 'background', reason: 'the conversation fills most of the window' },
  ...{ startedAt: 900, tokensBefore: 5_000, tokensAfter: 400 },
}

function operationOf(made: object) {
  const meta = { covers: 3, previous: 0, by: 'digest' }
  const entry = { number: 4, at: 1_000, operation: 'op', fence: 1, meta, kind: 'compaction' }
  const body = JSON.stringify({ made })
  return adoptedOperation(sessionId('s1'), { ...entry, body } as unknown as Entry & {
    kind: 'compaction'
  })
}

describe('adoptedOperation', () => {
  it('says how the proxy made a handoff', () => {
    const { trigger, reason, startedAt, result } = operationOf(MADE)
    expect({ trigger, reason, startedAt }).toEqual({
      ...{ trigger: 'background', reason: MADE.reason, startedAt: 900 },
    })
    expect(result).toEqual({ tokensBefore: 5_000, tokensAfter: 400, entry: 4, isAdopted: true })
  })

  it.each([
    { trigger: '\u001b[2Jbackground' },
    { startedAt: 1e300 },
    { startedAt: 0.5 },
    { startedAt: -1 },
    { tokensBefore: '5000' },
    { reason: null },
  ])('calls a handoff imported if its record is not the proxy’s: %o', (forged) => {
    const { trigger, startedAt, result } = operationOf({ ...MADE, ...forged })
    expect({ trigger, startedAt, result }).toEqual({
      ...{ trigger: 'imported', startedAt: 1_000, result: { entry: 4, isAdopted: true } },
    })
  })

  it('ignores other fields of the record, and a start after the end', () => {
    const { startedAt, result } = operationOf({ ...MADE, startedAt: 2_000, warning: 'Pay up.' })
    expect(startedAt).toBe(1_000)
    expect(Object.keys(result).sort()).toEqual([
      ...['entry', 'isAdopted', 'tokensAfter', 'tokensBefore'],
    ])
  })
})
