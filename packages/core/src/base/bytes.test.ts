import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeBase64, utf8Length } from './bytes.ts'

describe('utf8Length', () => {
  it('counts the same as Buffer, including lone surrogates', () => {
    const units = fc
      .array(fc.nat({ max: 0xffff }), { maxLength: 40 })
      .map((codes) => String.fromCharCode(...codes))
    const halves = fc.array(fc.constantFrom('\ud83d', '\ude00', 'a', 'é', '漢'), { maxLength: 12 })
    fc.assert(
      fc.property(
        fc.oneof(
          units,
          halves.map((parts) => parts.join('')),
        ),
        (text) => {
          expect(utf8Length(text)).toBe(Buffer.byteLength(text))
        },
      ),
    )
  })
})

describe('utf8Length at the edges of its ranges', () => {
  it.each([
    ['\u007f', 1],
    ['\u0080', 2],
    ['\u07ff', 2],
    ['\u0800', 3],
    ['\ud7ff', 3],
    ['\ud800\udc00', 4],
    ['\udbff\udfff', 4],
    ['\ue000', 3],
    ['\ud800', 3],
    ['\udfff', 3],
    ['\udc00\ud800', 6],
  ])('counts %j', (text, bytes) => {
    expect(utf8Length(text)).toBe(bytes)
  })
})

describe('decodeBase64', () => {
  it('decodes base64 of Buffer, in both alphabets, cut anywhere, with line breaks', () => {
    const bytes = fc.uint8Array({ maxLength: 40 })
    fc.assert(
      fc.property(bytes, fc.nat({ max: 60 }), (data, cut) => {
        for (const alphabet of ['base64', 'base64url'] as const) {
          const text = Buffer.from(data).toString(alphabet)
          expect([...decodeBase64(text)]).toEqual([...data])
          const part = text.slice(0, cut)
          expect([...decodeBase64(part)]).toEqual([...Buffer.from(part, 'base64')])
          expect([...decodeBase64(text.replaceAll(/.{5}/g, '$&\n'))]).toEqual([...data])
        }
      }),
    )
  })

  it('returns nothing for text that is not base64', () => {
    expect([...decodeBase64('§§')]).toEqual([])
    expect([...decodeBase64('=')]).toEqual([])
  })
})
