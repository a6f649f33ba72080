import { describe, expect, it } from 'vitest'
import { runnerId, sessionId } from '../base/ids.ts'
import { Waits } from './waits.ts'

describe('what a turn waits for', () => {
  const id = sessionId('s')
  const ours = runnerId('ours')
  const session = { id, turn: 3, runner: ours }

  it('is known until the turn says something', () => {
    const waits = new Waits()
    waits.note(id, 3, 'waiting-for-model')
    expect(waits.of(session, ours)).toBe('waiting-for-model')
    waits.end(id)
    expect(waits.of(session, ours)).toBeUndefined()
  })

  it('says nothing about another turn, nor about one that goes on elsewhere', () => {
    const waits = new Waits()
    waits.note(id, 3, 'waiting-for-compaction')
    expect(waits.of({ ...session, turn: 4 }, ours)).toBeUndefined()
    expect(waits.of({ ...session, runner: runnerId('theirs') }, ours)).toBeUndefined()
    expect(waits.of({ ...session, runner: null }, ours)).toBeUndefined()
  })
})
