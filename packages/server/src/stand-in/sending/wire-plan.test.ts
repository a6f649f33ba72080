import { describe, expect, it } from 'vitest'
import type { Fault } from '../faults.ts'
import type { Frame } from '../protocols/protocol.ts'
import { planWire } from './wire-plan.ts'

const STREAM = ['one\n', 'twö\n', 'three\n', 'four\n'].map((text, at) => ({ text, tokens: at }))

function planOf(frames: readonly Frame[], fault?: Partial<Fault>) {
  const plan = planWire(frames, fault as Fault | undefined)
  const pieces = plan.pieces.map(({ bytes, tokens }) => [bytes.toString('latin1'), tokens])
  return { ...plan, pieces }
}

const latin1 = (text: string) => Buffer.from(text).toString('latin1')
const [ONE, TWO, THREE, FOUR] = STREAM.map(({ text, tokens }) => [latin1(text), tokens])

describe('how an answer is sent', () => {
  it.each<[string, Partial<Fault> | undefined, object]>([
    ['whole', undefined, { pieces: [ONE, TWO, THREE, FOUR], ending: 'clean' }],
    [
      'byte by byte',
      { kind: 'drip', ms: 7 },
      { pieces: [ONE, TWO, THREE, FOUR], ending: 'clean', byteMs: 7 },
    ],
    ['never', { kind: 'stall-after-headers' }, { pieces: [], ending: 'silence' }],
    [
      'to its middle',
      { kind: 'stall-mid-stream', after: 0.5 },
      { pieces: [ONE, TWO], ending: 'silence' },
    ],
    [
      'without its last piece',
      { kind: 'cut-stream', after: 1, how: 'fin' },
      { pieces: [ONE, TWO, THREE], ending: 'fin' },
    ],
    [
      'to the middle of a piece',
      { kind: 'cut-json', after: 0.7, how: 'reset' },
      { pieces: [ONE, TWO, ['thr', 2]], ending: 'reset' },
    ],
    [
      'to the middle of a character',
      { kind: 'cut-utf8', how: 'fin' },
      { pieces: [ONE, [latin1('twö').slice(0, 3), 1]], ending: 'fin' },
    ],
    [
      'with a torn line',
      { kind: 'unparsable-line', after: 0.5 },
      { pieces: [ONE, TWO, ['data: {"torn":\n\n', 0], THREE, FOUR], ending: 'clean' },
    ],
  ])('is %s in a stream', (_what, fault, plan) => expect(planOf(STREAM, fault)).toEqual(plan))

  it.each<[string, Partial<Fault> | undefined, object]>([
    [
      'in two halves',
      undefined,
      {
        pieces: [
          ['{"a"', 3],
          [':1}', 0],
        ],
        ending: 'clean',
      },
    ],
    [
      'by half',
      { kind: 'unparsable-line', after: 0.5 },
      { pieces: [['{"a"', 3]], ending: 'clean' },
    ],
    [
      'to the middle of a half',
      { kind: 'cut-json', after: 0, how: 'fin' },
      { pieces: [['{"', 3]], ending: 'fin' },
    ],
    [
      'without its second half, if it has no long character',
      { kind: 'cut-utf8', how: 'fin' },
      { pieces: [['{"a"', 3]], ending: 'fin' },
    ],
  ])('is %s in a document', (_what, fault, plan) => {
    expect(planOf([{ text: '{"a":1}', tokens: 3 }], fault)).toEqual(plan)
  })

  it('is nothing for an answer of nothing', () => {
    expect(planOf([])).toEqual({ pieces: [], ending: 'clean' })
    expect(planOf([], { kind: 'cut-json', after: 0.5, how: 'fin' })).toEqual({
      pieces: [],
      ending: 'fin',
    })
  })
})
