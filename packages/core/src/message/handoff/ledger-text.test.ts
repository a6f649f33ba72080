import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { costOfTenfold } from '../../../../../test/support/timing.ts'
import { LEDGER_KINDS } from './handoff.ts'
import { readLedger, writeLedger } from './ledger-text.ts'

describe('the ledger as text', () => {
  it('puts words of a kind on one line and each sentence on its own', () => {
    const entries = [
      { kind: 'error', text: 'connection refused by 10.0.0.7', count: 1, number: 4 },
      { kind: 'path', text: '/srv/app/main.ts', count: 1, number: 2 },
      { kind: 'path', text: '/srv/app/plan.ts', count: 1, number: 3 },
    ] as const
    expect(writeLedger(entries)).toBe(
      'error:\n connection refused by 10.0.0.7\npath: /srv/app/main.ts /srv/app/plan.ts',
    )
  })

  it('takes linear time over many words of a kind', () => {
    const prepare = (size: number) => {
      const entries = Array.from(
        { length: size },
        (_, number) => ({ kind: 'id', text: `word-${number}`, count: 1, number }) as const,
      )
      return () => writeLedger(entries)
    }
    expect(costOfTenfold(prepare, { size: 3_000 })).toBeLessThan(15)
  })

  it('is read back with the same kinds and texts in the same order', () => {
    const entry = fc.record({
      kind: fc.constantFrom(...LEDGER_KINDS),
      text: fc.oneof(
        fc.constantFrom('path:', ' ', '', 'path: x', ' two words', 'error: no'),
        fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\n', ' ')),
      ),
      count: fc.constant(1),
      number: fc.constant(0),
    })
    fc.assert(
      fc.property(fc.array(entry), (entries) => {
        expect(readLedger(writeLedger(entries))).toEqual(entries)
      }),
    )
  })
})
