import { describe, expect, it } from 'vitest'
import { ThroughlineError } from '../../base/throughline-error.ts'
import {
  ContextTooLongError,
  callListener,
  mayRetry,
  overflowIn,
  textOfError,
  withDeadline,
} from '../attempt.ts'
import { StepSlots } from '../step-slots.ts'

const failed = (fields: object, message = 'no') => Object.assign(new Error(message), fields)

describe('an error of a step', () => {
  const tooLong = 'prompt is too long: 9000 tokens > 8000 maximum'

  it.each<[string, unknown, unknown]>([
    ['its own class', new ContextTooLongError(), { kind: 'overflow' }],
    ['its own class with the limit', new ContextTooLongError(8_000), { limitTokens: 8_000 }],
    ['the words of a provider', failed({ status: 400 }, tooLong), { kind: 'overflow' }],
    ['the other name of a status', failed({ statusCode: 400 }, tooLong), { kind: 'overflow' }],
    ['a code', failed({ status: 400, code: 'context_length_exceeded' }), { kind: 'overflow' }],
    ['a body', failed({ status: 400, error: { message: tooLong } }), { kind: 'overflow' }],
    ['the text of a body', failed({ status: 400, responseBody: tooLong }), { kind: 'overflow' }],
    ['no status', new Error(tooLong), undefined],
    ['a status that is no number', failed({ status: '400' }, tooLong), undefined],
    ['a limit for each minute', failed({ status: 429 }, tooLong), undefined],
    ['other words', failed({ status: 400 }), undefined],
    ['no Error', { status: 400, message: tooLong }, undefined],
  ])('says by %s whether the context is too long', (_, error, expected) => {
    const found = overflowIn(error)
    if (expected === undefined) expect(found).toBeUndefined()
    else expect(found).toEqual({ kind: 'overflow', ...expected })
  })

  it.each<[boolean, unknown]>([
    [false, 'overloaded'],
    [true, failed({ isRetryable: true, status: 400 })],
    [false, failed({ isRetryable: false, status: 500 })],
    [true, failed({ status: 408 })],
    [true, failed({ status: 409 })],
    [true, failed({ statusCode: 429 })],
    [true, failed({ status: 500 })],
    [false, failed({ status: 499 })],
    [false, failed({ status: 400, code: 'ECONNRESET' })],
    [true, failed({ code: 'ECONNRESET' })],
    [true, failed({ name: 'APIConnectionError' })],
    [true, new TypeError('fetch failed')],
    [false, new TypeError('x is not a function')],
    [false, new ThroughlineError('outcome-unknown', 'socket')],
  ])('may be tried again: %s for %j', (expected, error) => {
    expect(mayRetry(error)).toBe(expected)
  })

  it('is told in its own words', () => {
    expect(textOfError(new Error('no key'))).toBe('no key')
    expect(textOfError('no key')).toBe('no key')
    expect(textOfError({ message: 'no key' })).toBe('no key')
    expect(textOfError({ message: 5 })).toBe('an object was thrown, which is no Error.')
    expect(textOfError(null)).toBe('null was thrown, which is no Error.')
    expect(callListener('no key', 'onError', () => 5)).toBe('no key')
    const listen = () => {
      throw new Error('no disk')
    }
    expect(callListener('no key', 'onError', listen)).toBe('no key (And "onError" threw: no disk)')
  })
})

describe('a deadline', () => {
  it('aborts with the signal that it was given, and is not over then', () => {
    const stop = new AbortController()
    const { signal, isOver, end } = withDeadline(stop.signal, 600_000)
    expect([signal.aborted, isOver()]).toEqual([false, false])
    stop.abort(new Error('stopped'))
    expect([signal.reason.message, isOver()]).toEqual(['stopped', false])
    end()
  })
})

describe('slots for steps', () => {
  it('go to those who wait in order, and not to one who gave up', async () => {
    const slots = new StepSlots(1)
    const never = new AbortController().signal
    const giveBack = await slots.take(never)
    const started: string[] = []
    const stop = new AbortController()
    const reason = new Error('stopped')
    const gone = slots.take(stop.signal)
    const waiting = ['a', 'b'].map(async (name) => {
      const done = await slots.take(never)
      started.push(name)
      return done
    })
    stop.abort(reason)
    await expect(gone).rejects.toBe(reason)
    await expect(slots.take(stop.signal)).rejects.toBe(reason)
    giveBack()
    ;(await waiting[0])?.()
    ;(await waiting[1])?.()
    expect(started).toEqual(['a', 'b'])
    // The last one freed it.
    await slots.take(never)
  })
})
