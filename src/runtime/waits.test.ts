import { describe, expect, it } from 'vitest'
import { runnerId, sessionId } from '../base/ids.ts'
import { Waits } from './waits.ts'

describe('what a turn waits for', () => {
  const id = sessionId('s')
  const ours = runnerId('ours')
  const session = { id, turn: 3, runner: ours }

  it('is known until the turn says something', () => {
    const waits = new Waits()
    waits.note({ id, turn: 3, notice: 'waiting-for-model', isTold: true })
    expect(waits.of(session, ours)).toBe('waiting-for-model')
    waits.end(id)
    expect(waits.of(session, ours)).toBeUndefined()
  })

  it('says nothing about another turn, nor about one that goes on elsewhere', () => {
    const waits = new Waits()
    waits.note({ id, turn: 3, notice: 'waiting-for-compaction', isTold: true })
    expect(waits.of({ ...session, turn: 4 }, ours)).toBeUndefined()
    expect(waits.of({ ...session, runner: runnerId('theirs') }, ours)).toBeUndefined()
    expect(waits.of({ ...session, runner: null }, ours)).toBeUndefined()
  })

  it('is told to whoever comes later while it holds, and only where people are told', () => {
    const waits = new Waits()
    waits.note({ id, turn: 3, notice: 'waiting-for-compaction', isTold: false })
    expect(waits.told).toEqual([])
    expect(waits.noticeOf(session, ours)).toBeUndefined()
    waits.note({ id, turn: 3, notice: 'waiting-for-model', isTold: true })
    expect(waits.told).toEqual([id])
    expect(waits.noticeOf(session, ours)).toMatchObject({ turn: 3, code: 'waiting-for-model' })
    // The turn was stopped, or goes on elsewhere: nobody told us, and nobody else is told.
    expect(waits.noticeOf({ ...session, turn: 4 }, ours)).toBeUndefined()
    expect(waits.told).toEqual([])
  })
})
