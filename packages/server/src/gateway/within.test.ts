import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { within } from './within.ts'

describe('a wait with a deadline', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('leaves no timer running, however it ends', async () => {
    const signal = new AbortController().signal
    expect(await within(600_000, signal, async () => 'answered')).toBe('answered')
    const failing = within(600_000, signal, () => Promise.reject(new Error('failed')))
    await expect(failing).rejects.toThrow('failed')
    expect(vi.getTimerCount()).toBe(0)
  })

  it('ends when the time is up, and when the caller leaves', async () => {
    const untilAborted = (deadline: AbortSignal) =>
      new Promise<string>((resolve) => {
        deadline.addEventListener('abort', () => resolve('ended'))
      })
    const caller = new AbortController()
    const left = within(600_000, caller.signal, untilAborted)
    caller.abort()
    expect(await left).toBe('ended')
    const late = within(1_000, new AbortController().signal, untilAborted)
    vi.advanceTimersByTime(1_000)
    expect(await late).toBe('ended')
  })
})
