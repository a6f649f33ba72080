import { describe, expect, it } from 'vitest'
import { Turns } from './commit-queue.ts'

describe('Turns', () => {
  it('keeps the order of calls in one queue, even after one that fails', async () => {
    const turns = new Turns()
    const told: string[] = []
    const first = Promise.withResolvers<void>()
    const calls = [
      turns.take('a', async () => {
        await first.promise
        told.push('a1')
      }),
      turns.take('a', async () => {
        told.push('a2')
        throw new Error('fails')
      }),
      turns.take('a', async () => {
        told.push('a3')
      }),
      turns.take('b', async () => {
        told.push('b1')
      }),
      turns.take(null, async () => {
        told.push('free')
        first.resolve()
      }),
    ]
    const results = await Promise.allSettled(calls)
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
      'fulfilled',
    ])
    expect(told.indexOf('free')).toBeLessThan(told.indexOf('a1'))
    expect(told.filter((each) => each.startsWith('a'))).toEqual(['a1', 'a2', 'a3'])
  })

  it('refuses by name when too many wait', async () => {
    const turns = new Turns()
    const gate = Promise.withResolvers<void>()
    const waiting = Array.from({ length: 10_000 }, () => turns.take('a', () => gate.promise))
    await expect(turns.take('a', async () => {})).rejects.toMatchObject({ code: 'store-busy' })
    gate.resolve()
    await Promise.all(waiting)
  })
})
