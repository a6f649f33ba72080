import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { image, toolResult, user } from '../../../../../test/support/builders.ts'
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

describe('clearMessage', () => {
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
