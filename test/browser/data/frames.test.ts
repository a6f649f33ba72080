import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sessionId } from '../../../packages/core/src/base/ids.ts'
import { Frames } from '../../../packages/dashboard/data/frames.ts'
import { frameEvent } from '../../../packages/server/src/gateway/http/event-stream.ts'

const id = { turn: 1, step: 1, attempt: 'a' }
const delta = (text: string) =>
  ({ type: 'live', kind: 'delta', sessionId: sessionId('s'), ...id, text }) as const

/** What could be taken for a part of the form around it. */
const odd = fc.constantFrom('a', '\n', '\n\n', '\r', 'data: ', ': ', 'id: 1\n', '"', '\u2028', '🧵')
const texts = fc.array(fc.array(odd).map((parts) => parts.join('')))

describe('Frames', () => {
  it('gives every event once, however the stream is cut, and nothing of one that broke off', () => {
    const cuts = fc.array(fc.nat(), { maxLength: 12 })
    fc.assert(
      fc.property(texts, cuts, fc.nat(), (said, places, lost) => {
        const told = said.map((text) => `: \n\n${frameEvent(delta(text))}`)
        const whole = `retry: 2000\n\n${told.join('')}`
        const broken = frameEvent(delta('lost'))
        const all = whole + broken.slice(0, lost % (broken.length - 1))
        const frames = new Frames()
        const ends = [...places.map((place) => place % all.length), all.length].sort(
          (a, b) => a - b,
        )
        const read = ends.flatMap((end, n) => frames.take(all.slice(ends[n - 1] ?? 0, end)))
        expect(read.map(({ event }) => event)).toEqual(said.map(delta))
      }),
      { seed: 8, numRuns: 300 },
    )
  })
})
