import { describe, expect, it } from 'vitest'
import { compilePatterns } from './matches.ts'

describe('patterns', () => {
  it.each([
    [['\\pL{1000}']],
    [['(?:\\pL?){400}']],
    [['a{200}', 'b{200}', 'c{250}']],
    [['(((a{30}){30}){30})']],
  ])('that would hold everybody up are refused: %j', (texts) => {
    expect(compilePatterns(texts).kind).toBe('refused')
  })

  it('of the usual kind are accepted', () => {
    const texts = [
      '(?i)\\b(error|fail(ed|ure)?|exception)\\b',
      '^\\d{4}-\\d{2}-\\d{2}T.*FATAL',
      'd+',
    ]
    expect(compilePatterns([...texts, '(listening|ready) on .{1,80}$']).kind).toBe('compiled')
  })
})
