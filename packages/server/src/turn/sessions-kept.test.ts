import { expect, it } from 'vitest'
import { entryNumber, sessionId } from '#core/base/ids'

import { handoffOf } from '../../../../test/support/builders.ts'
import { Calibrations } from './calibrations.ts'
import { StepCounts } from './steps-taken.ts'

const MANY = 20_001
const sessions = Array.from({ length: MANY }, (_, index) => sessionId(`s-${index}`))

it('keeps correcting estimates when more sessions are active than it remembers', () => {
  const calibrations = new Calibrations()
  for (let round = 1; round <= 3; round++) {
    for (const id of sessions) {
      calibrations.observe(id, { model: 'm', estimated: round * 1_000, reported: round * 1_500 })
    }
  }
  const corrected = sessions.filter((id) => calibrations.correct(id, 1_000) !== 1_000)
  expect(corrected.length).toBeGreaterThan(MANY / 2)
})

it('counts the steps of each turn across a compaction, however many sessions are in one', () => {
  const counts = new StepCounts()
  const compacted = [{ role: 'handoff', handoff: handoffOf() } as const]
  const request = (id: (typeof sessions)[number]) => ({
    ...{ sessionId: id, agent: 'ada', fence: 1, turn: 7, upto: entryNumber(9) },
    context: compacted,
  })
  for (const id of sessions) counts.note(request(id), 40)
  expect(sessions.filter((id) => counts.taken(request(id)) !== 41)).toEqual([])
})
