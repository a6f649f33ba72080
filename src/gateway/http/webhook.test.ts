import { describe, expect, it } from 'vitest'
import { isGenuine, sign } from './webhook.ts'

describe('isGenuine', () => {
  it.each([-1, 1])('takes a time up to five minutes away, and none beyond (%d)', (direction) => {
    const message = { id: 'one', timestamp: '1790000000', bytes: Buffer.from('{}') }
    const signature = `v1,${sign(message, 'secret').toString('base64')}`
    const isTaken = (awayMs: number) =>
      isGenuine({ ...message, signature }, ['secret'], 1_790_000_000_000 + direction * awayMs)
    expect([0, 300_000, 300_001].map(isTaken)).toEqual([true, true, false])
  })
})
