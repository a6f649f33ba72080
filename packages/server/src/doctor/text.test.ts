import { describe, expect, it } from 'vitest'
import { renderOwn } from './text.ts'

describe('the report on a Throughline store', () => {
  it('names the sessions of each finding, once', () => {
    const plain = { severity: 'fault', since: null, advice: 'Restore it.' } as const
    const text = renderOwn({
      ...{ format: 'throughline-doctor', version: 1, store: 'a.db', sessions: 2, fixed: [] },
      findings: [
        { ...plain, kind: 'damaged-chain', what: 'entry 2 is damaged', sessionIds: ['one'] },
        { ...plain, kind: 'stuck-mail', what: 'session two waits', sessionIds: ['two'] },
      ],
    } as never)
    expect(text).toContain('  entry 2 is damaged\n  In session one.\n  Restore it.')
    expect(text.match(/two/g)).toHaveLength(1)
  })
})
