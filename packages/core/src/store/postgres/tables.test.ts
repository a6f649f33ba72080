import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromText, toBytes, toText } from './tables.ts'

describe('toText', () => {
  it('round-trips any well-formed text without characters that the server refuses', () => {
    const odd = fc.string({ unit: fc.constantFrom('\0', '\u0001', ',', '.', 'a', '\\', '🧵') })
    fc.assert(
      fc.property(fc.oneof(odd, fc.string({ unit: 'binary' })), (text) => {
        expect(toText(text)).not.toContain('\0')
        expect(fromText(toText(text))).toBe(text.toWellFormed())
      }),
    )
  })

  it('leaves ordinary text unchanged', () => {
    expect(toText('it\'s "usual", isn’t it?\n')).toBe('it\'s "usual", isn’t it?\n')
  })
})

describe('toBytes', () => {
  it('matches no row if the hash is invalid', () => {
    expect([toBytes('00ff'), toBytes('nope'), toBytes('0')]).toEqual(['\\x00ff', '\\x', '\\x'])
  })
})
