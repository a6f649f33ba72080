import { describe, expect, it } from 'vitest'
import { isDriven } from './crowd.ts'

describe('a rehearsal', () => {
  it.each([
    ['goes on before anything happened', [], [], false],
    ['goes on until every agent got a message meanwhile', ['a'], ['a', 'b'], false],
    ['goes on until every agent had an effect', ['a', 'b'], ['b'], false],
    ['may end once every agent had both', ['b', 'a'], ['a', 'b'], true],
  ])('%s', (_, received, active, expected) => {
    const reached = { received: new Set(received), active: new Set(active) }
    expect(isDriven(['a', 'b'], reached)).toBe(expected)
  })
})
