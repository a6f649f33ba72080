import { hash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { portableSha256, sha256Hex } from './sha256.ts'

/** Any UTF-16, lone surrogates included. */
const texts = fc
  .array(fc.nat({ max: 0xffff }), { maxLength: 200 })
  .map((codes) => String.fromCharCode(...codes))
const expected = (text: string) => hash('sha256', text.toWellFormed(), 'hex')

describe.each([
  ['sha256Hex', sha256Hex],
  ['portableSha256', portableSha256],
])('%s', (_, hashOf) => {
  it('agrees with the known hash of "abc"', () => {
    const known = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
    expect(hashOf('abc')).toBe(known)
  })

  it('agrees with Node for every length around a block', () => {
    for (let length = 0; length <= 200; length++) {
      const text = 'é'.repeat(length % 3) + 'x'.repeat(length)
      expect(hashOf(text)).toBe(expected(text))
    }
  })

  it('agrees with Node for any text, lone surrogates included', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(hashOf(text)).toBe(expected(text))
      }),
    )
    expect(hashOf('a\ud800b')).toBe(expected('a\ud800b'))
  })
})
