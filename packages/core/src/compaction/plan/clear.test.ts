import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { assistant, image, toolResult, user } from '../../../../../test/support/builders.ts'
import type { ToolMessage } from '../../message/message.ts'
import { textOf } from '../../message/text.ts'
import { clearMessage, clipText } from './clear.ts'

const countTokens = (text: string) => Math.ceil(text.length / 4)
const note = (characters: number) => `[… ${characters} …]`

describe('clipText', () => {
  it('leaves a text within the limit as it is', () => {
    expect(clipText('short', { tokensMax: 2, countTokens, note })).toBe('short')
  })

  it('keeps both ends, says how much was removed, and stays within the limit', () => {
    const text = `BEGIN${'x'.repeat(10_000)}END`
    const clipped = clipText(text, { tokensMax: 100, countTokens, note })
    expect(clipped).toMatch(/^BEGINx+\n\[… \d+ …\]\nx+END$/)
    expect(countTokens(clipped)).toBeLessThanOrEqual(100)
  })

  it('never splits a character, for any text and limit', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 400 }),
        fc.integer({ min: 10, max: 60 }),
        (text, tokensMax) => {
          const clipped = clipText(`😀😀😀${text}😀😀😀`, { tokensMax, countTokens, note })
          expect(clipped.isWellFormed()).toBe(true)
          expect(countTokens(clipped)).toBeLessThanOrEqual(tokensMax)
        },
      ),
    )
  })
})

describe('clipText in characters', () => {
  // A token is a character, the note has seven.
  const countTokens = (text: string) => text.length
  const note = (characters: number) => `[${`${characters}`.padStart(5, ' ')}]`
  const clip = (text: string, tokensMax: number) => clipText(text, { tokensMax, countTokens, note })

  it.each([
    ['abcdefghij', 10, 'abcdefghij'],
    // The first guess is 11 characters, which do not fit with their breaks: the next is 9.
    ['abcdefghijklmnopqrst', 18, 'abcdef\n[   11]\nrst'],
    ['abcdefghijklmnopqrst', 16, 'abcde\n[   13]\nst'],
    // The beginning and the end have two thirds and one.
    ['a'.repeat(60) + 'z'.repeat(60), 69, `${'a'.repeat(37)}\n[   65]\n${'z'.repeat(18)}`],
    ['abcdefghijklmnopqrst', 9, '[   20]'],
    ['abcdefghijklmnopqrst', 1, '[   20]'],
    ['   abcdefghijklmnopq', 18, 'abc\n[   11]\nopq'],
    // A character of two halves stays out, on either side of the note.
    ['abcde😀fghijklmnopqrst', 18, 'abcde\n[   14]\nrst'],
    ['abcdefghijklmnopq😀st', 18, 'abcdef\n[   13]\nst'],
  ])('%j is clipped to %i as %j', (text, tokensMax, clipped) => {
    expect(clip(text, tokensMax)).toBe(clipped)
  })
})

describe('clearMessage', () => {
  const options = { tokensMax: 100, countTokens, number: 7 }
  const resultOf = (output: readonly object[], more: object = {}) =>
    ({
      role: 'tool',
      parts: [{ type: 'tool-result', callId: 'a', output, origin: { format: 'pi' }, ...more }],
    }) as never

  it('leaves a small result, a reply and a handoff as they are', () => {
    const small = resultOf([{ type: 'text', text: 'one' }])
    expect(clearMessage(small, options)).toEqual(small)
    const reply = assistant('long '.repeat(1_000))
    expect(clearMessage(reply, options)).toBe(reply)
  })

  it('names every part that it drops, and a result without a name', () => {
    const output = [{ type: 'file' }, { type: 'image' }, { type: 'opaque' }]
    expect(clearMessage(resultOf(output), options)).toMatchObject({
      parts: [{ output: [{ text: '\n[cleared: a file, an image, a provider item]' }] }],
    })
    const long = resultOf([{ type: 'text', text: 'x'.repeat(1_000) }])
    expect(textOf(clearMessage(long, options))).toMatch(
      /^x+\n\[cleared: \d+ characters of this result; the original is message 7 of the transcript\]\nx+$/,
    )
  })

  it('divides the limit among the results of a message', () => {
    const part = (callId: string) => resultOf([{ type: 'text', text: 'x'.repeat(380) }], { callId })
    const both = {
      role: 'tool',
      parts: ['a', 'b'].flatMap((id) => (part(id) as ToolMessage).parts),
    }
    const cleared = clearMessage(both as never, { ...options, tokensMax: 190 })
    expect(cleared).toEqual(both)
    const less = clearMessage(both as never, { ...options, tokensMax: 189 }) as ToolMessage
    expect(less.parts.map(({ cleared }) => cleared)).toEqual([true, true])
    for (const each of less.parts) expect(countTokens(textOf(each))).toBeLessThanOrEqual(94)
  })

  it('shortens no request that fits, and each of its parts by what the others leave', () => {
    const countTokens = (text: string) => text.length
    const words = (...texts: string[]) => ({
      role: 'user' as const,
      parts: texts.map((text) => ({ type: 'text' as const, text })),
    })
    const fits = words('a'.repeat(40), 'b'.repeat(60))
    expect(clearMessage(fits, { ...options, countTokens })).toEqual(fits)
    const log = Array.from({ length: 40 }, (_, at) => `${10 + at}:00 depth=${at}`).join('\n')
    const cut = clearMessage(words('Look at this list.', log, 'The buoy is red.'), {
      ...{ countTokens, number: 7, tokensMax: 160 },
    })
    const shown = [
      '10:00 depth=0\n11:00 depth=1\n12:00 depth=2',
      '[… 507 characters of message 7 left out …]',
      '00 depth=37\n48:00 depth=38\n49:00 depth=39',
    ]
    expect(cut).toEqual(words('Look at this list.', shown.join('\n'), 'The buoy is red.'))
  })

  it('joins the texts of one result with line breaks, and names its other parts', () => {
    const output = [
      ...[
        { type: 'text', text: 'one' },
        { type: 'text', text: '' },
        { type: 'text', text: 'two' },
      ],
      { type: 'image', source: { kind: 'url', url: 'https://a.example' } },
    ]
    const message = {
      role: 'tool',
      parts: [{ type: 'tool-result', callId: 'a', name: 'read', output, origin: { format: 'pi' } }],
    } as never
    const options = { tokensMax: 100, countTokens, number: 7 }
    expect(clearMessage(message, options)).toEqual({
      role: 'tool',
      parts: [
        {
          ...{ type: 'tool-result', callId: 'a', name: 'read', cleared: true },
          output: [{ type: 'text', text: 'one\ntwo\n[cleared: an image]' }],
        },
      ],
    })
  })

  it('makes a stub of a large tool result that names where the original is', () => {
    const message = clearMessage(toolResult('a', 'line\n'.repeat(5_000)), {
      tokensMax: 100,
      countTokens,
      number: 212,
    })
    expect(message).toMatchObject({ parts: [{ callId: 'a', name: 'bash', cleared: true }] })
    expect(textOf(message)).toMatch(
      /\[cleared: \d+ characters of the result of bash; the original is message 212 of the transcript\]/,
    )
    expect(countTokens(textOf(message))).toBeLessThanOrEqual(100)
  })

  it('names the images that it drops from a result', () => {
    const [part] = toolResult('a', 'shot').parts
    if (part === undefined) throw new Error('a tool message has a part')
    const message = clearMessage(
      { role: 'tool', parts: [{ ...part, output: [...part.output, image] }] },
      { tokensMax: 100, countTokens, number: 3 },
    )
    expect(textOf(message)).toBe('shot\n[cleared: an image]')
  })

  it('shortens the words of a request and keeps its images', () => {
    const message = clearMessage(
      { ...user('w '.repeat(2_000)), parts: [...user('w '.repeat(2_000)).parts, image] },
      { tokensMax: 50, countTokens, number: 9 },
    )
    expect(message.role === 'user' && message.parts.at(-1)).toBe(image)
    expect(textOf(message)).toMatch(/characters of message 9 left out/)
  })

  it('keeps the short sentences of a request, whichever part they are in', () => {
    const log = Array.from({ length: 60 }, (_, at) => `10:00:${10 + at} INFO depth=${at}`).join(
      '\n',
    )
    const parts = [...user(`Look at this:\n${log}`).parts, ...user('The buoy is red.').parts]
    const options = { tokensMax: 60, countTokens, number: 4 }
    const text = textOf(clearMessage({ role: 'user', parts }, options))
    expect(text).toMatch(/^Look at this:\n[\s\S]* left out …\][\s\S]*The buoy is red\.$/)
    expect(countTokens(text)).toBeLessThanOrEqual(60)
  })

  it('shortens a long request in a few passes over its text', () => {
    const text = 'The crane set the container down on the quay. '.repeat(2_000)
    let read = 0
    const counting = (counted: string) => {
      read += counted.length
      return countTokens(counted)
    }
    clearMessage(user(text), { tokensMax: 400, countTokens: counting, number: 4 })
    expect(read).toBeLessThan(5 * text.length)
  })
})
