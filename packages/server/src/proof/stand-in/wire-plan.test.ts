import { describe, expect, it } from 'vitest'
import { readFault } from './faults.ts'
import { planWire, type WirePlan } from './wire-plan.ts'

const FRAMES = ['one ', 'two ', 'thr\u00e9e ', 'end'].map((text) => ({ text, tokens: 3 }))
const WHOLE = FRAMES.map(({ text }) => text).join('')
const DOCUMENT = [{ text: '{"a":1}', tokens: 5 }]

const sent = ({ pieces }: WirePlan) => Buffer.concat(pieces.map(({ bytes }) => bytes)).toString()
const tokens = ({ pieces }: WirePlan) => pieces.reduce((sum, piece) => sum + piece.tokens, 0)

describe('planWire', () => {
  it.each(['none', 'drip; ms=7', 'latency'])('sends everything, with its tokens: %s', (fault) => {
    const chosen = fault === 'none' ? undefined : readFault(fault)
    for (const [frames, text, count] of [
      [FRAMES, WHOLE, 12],
      [DOCUMENT, '{"a":1}', 5],
    ] as const) {
      const plan = planWire(frames, chosen)
      expect([sent(plan), tokens(plan), plan.ending]).toEqual([text, count, 'clean'])
      expect(plan.byteMs).toBe(fault.startsWith('drip') ? 7 : undefined)
    }
  })

  it.each([
    ['stall-after-headers', '', 'silence'],
    ['stall-mid-stream', 'one two ', 'silence'],
    ['stall-mid-stream; after=1', 'one two thr\u00e9e ', 'silence'],
    ['cut-stream; after=0', '', 'fin'],
    ['cut-stream; how=reset', 'one two ', 'reset'],
    ['cut-stream; after=1; how=clean', 'one two thr\u00e9e ', 'clean'],
    ['cut-json; after=0.25', 'one tw', 'fin'],
    ['cut-json; after=1; how=clean', 'one two thr\u00e9e en', 'clean'],
    ['unparsable-line', 'one two data: {"torn":\n\nthr\u00e9e end', 'clean'],
    ['unparsable-line; after=0', 'data: {"torn":\n\none two thr\u00e9e end', 'clean'],
  ] as const)('sends so much of a stream, and ends so: %s', (fault, text, ending) => {
    const plan = planWire(FRAMES, readFault(fault))
    expect([sent(plan), plan.ending]).toEqual([text, ending])
  })

  it('cuts within the first character of several bytes, or before the end', () => {
    const { pieces, ending } = planWire(FRAMES, readFault('cut-utf8; how=reset'))
    const bytes = Buffer.concat(pieces.map((piece) => piece.bytes))
    expect([bytes, ending]).toEqual([Buffer.from('one two thr\u00e9').subarray(0, -1), 'reset'])
    const plain = FRAMES.slice(0, 2)
    expect(sent(planWire(plain, readFault('cut-utf8')))).toBe('one ')
  })

  it.each(['cut-stream', 'cut-json; after=0', 'unparsable-line'])(
    'leaves a document without its end: %s',
    (fault) => {
      const text = sent(planWire(DOCUMENT, readFault(fault)))
      expect('{"a":1}'.startsWith(text)).toBe(true)
      expect(text.length).toBeGreaterThan(0)
      expect(() => JSON.parse(text)).toThrow()
    },
  )
})
