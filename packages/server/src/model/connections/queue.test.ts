import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { StreamPiece } from '../model.ts'
import { PieceQueue } from './queue.ts'

const words = (text: string): StreamPiece => ({ kind: 'text', text })
const end: StreamPiece = { kind: 'end', outcome: { kind: 'interrupted' }, reply: null }

describe('a queue of pieces', () => {
  it('joins text that was not read yet, and keeps the order', async () => {
    const queue = new PieceQueue()
    const pieces: readonly StreamPiece[] = [
      { kind: 'reasoning', text: 'hm' },
      words('a'),
      words('b'),
      { kind: 'note', code: 'x' },
      words('c'),
      end,
    ]
    for (const piece of pieces) expect(queue.push(piece)).toBeUndefined()
    const taken: StreamPiece[] = []
    for (let next = await queue.next(); next.done !== true; next = await queue.next()) {
      taken.push(next.value)
    }
    expect(taken).toEqual([pieces[0], words('ab'), pieces[3], words('c'), end])
  })

  it('gives a waiting reader everything that arrived together', async () => {
    const queue = new PieceQueue()
    const waiting = queue.next()
    for (const letter of 'abc') void queue.push(words(letter))
    expect(await waiting).toEqual({ done: false, value: words('abc') })
    const later = queue.next()
    await turn()
    void queue.push(words('d'))
    expect(await later).toEqual({ done: false, value: words('d') })
  })

  it('makes the writer wait for a slow reader', async () => {
    const queue = new PieceQueue()
    expect(queue.push(words('x'.repeat(999_999)))).toBeUndefined()
    const wait = queue.push(words('y'))
    let isFree = false
    const freed = wait?.then(() => {
      isFree = true
    })
    await turn()
    expect(isFree).toBe(false)
    await queue.next()
    await freed
    expect(isFree).toBe(true)
  })

  it('that is closed releases the reader and the writer', async () => {
    const queue = new PieceQueue()
    const reading = queue.next()
    queue.close()
    expect(await reading).toEqual({ done: true, value: undefined })
    const full = new PieceQueue()
    const wait = full.push(words('x'.repeat(1_000_000)))
    full.close()
    await wait
    expect(full.push(words('late'))).toBeUndefined()
    expect(await full.next()).toEqual({ done: true, value: undefined })
  })
})
