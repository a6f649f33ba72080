import { describe, expect, it } from 'vitest'
import { FLOOD_VALUES_MAX, FloodGauge } from './flood.ts'
import {
  MESSAGE_BYTES_MAX,
  MESSAGE_VALUES_MAX,
  type MessageEnd,
  MessageMeter,
} from './message-meter.ts'

const TOO_MANY = `it sent one message of more than ${MESSAGE_VALUES_MAX} values`
const FLOOD = `it sent more than ${FLOOD_VALUES_MAX} values within 10 s`

function open(end: MessageEnd) {
  const gauge = new FloodGauge({ now: () => 0, monotonic: () => 0, after: () => () => {} })
  const meter = new MessageMeter(gauge, end)
  return (text: string) => meter.add(Buffer.from(text))
}

describe('MessageMeter', () => {
  it.each(['[', '{', ','])('counts every %s outside strings', (mark) => {
    const add = open('never')
    expect(add(mark.repeat(MESSAGE_VALUES_MAX))).toBe(null)
    expect(add(mark)).toBe(TOO_MANY)
  })

  it('counts nothing within a string, however it is cut', () => {
    const add = open('never')
    for (const piece of ['{"a":"\\', '"', ',{['.repeat(MESSAGE_VALUES_MAX), '\\\\', '"']) {
      expect(add(piece)).toBe(null)
    }
    expect(add(','.repeat(MESSAGE_VALUES_MAX - 1))).toBe(null)
    expect(add(',')).toBe(TOO_MANY)
  })

  it.each(['"\n', '"\\\n""'])('does not take a string beyond its line: %j', (beginning) => {
    const add = open('never')
    expect(add(beginning)).toBe(null)
    expect(add(','.repeat(MESSAGE_VALUES_MAX - 1))).toBe(null)
    expect(add(',')).toBe(TOO_MANY)
  })

  it('begins anew with each line of a program', () => {
    const add = open('line')
    const half = ','.repeat(MESSAGE_VALUES_MAX - 1)
    expect(add(`${half}\n`)).toBe(null)
    expect(add(`${half}\n${half}`)).toBe(null)
    expect(add(',,\n')).toBe(TOO_MANY)
  })

  it('begins anew with each empty line of a stream, and counts a line as ten values', () => {
    const add = open('empty-line')
    expect(add(`${'x\n'.repeat(MESSAGE_VALUES_MAX / 10 - 1)}\n`)).toBe(null)
    expect(add('x\n'.repeat(MESSAGE_VALUES_MAX / 10))).toBe(null)
    expect(add('x\n')).toBe(TOO_MANY)
  })

  it('ends a flood of small messages', () => {
    const add = open('empty-line')
    expect(add('\n'.repeat(FLOOD_VALUES_MAX / 10))).toBe(null)
    expect(add('\n')).toBe(FLOOD)
  })

  it.each(['x', 'x\n'])('limits the bytes of one message: %j', (end) => {
    const add = open('line')
    expect(add('x'.repeat(MESSAGE_BYTES_MAX - 1))).toBe(null)
    expect(add('x')).toBe(null)
    expect(add(end)).toBe(`it sent one message of more than ${MESSAGE_BYTES_MAX} bytes`)
  })
})
