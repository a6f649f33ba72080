import { expect, it } from 'vitest'
import { entryNumber } from '../../base/ids.ts'
import { entrySpeakerOf } from './blocks.ts'

it('knows who speaks in an entry', () => {
  const speaker = (kind: 'input' | 'assistant' | 'result' | 'turn' | 'compaction', meta = {}) =>
    entrySpeakerOf({ number: entryNumber(1), kind, body: null, at: 0, meta })
  expect(speaker('input', { lane: 'user' })).toBe('person')
  expect(speaker('input', { lane: 'notification' })).toBe('notification')
  expect(speaker('input')).toBe('notification')
  expect(speaker('assistant')).toBe('agent')
  expect(speaker('result')).toBe('tool')
  expect(speaker('turn')).toBe('none')
  expect(speaker('compaction', { lane: 'user' })).toBe('none')
})
