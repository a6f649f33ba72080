import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { EventLines } from './event-lines.ts'

/** Counts the characters of every string that is searched or cut meanwhile. */
function countWork(run: () => void): number {
  let characters = 0
  const methods = ['indexOf', 'lastIndexOf', 'includes', 'split', 'slice', 'substring'] as const
  const spies = methods.map((name) => {
    const real = String.prototype[name] as (...args: unknown[]) => never
    return vi.spyOn(String.prototype, name).mockImplementation(function (
      this: string,
      ...args: unknown[]
    ) {
      characters += this.length
      return real.apply(this, args)
    })
  })
  onTestFinished(() => void vi.restoreAllMocks())
  run()
  for (const spy of spies) spy.mockRestore()
  return characters
}

describe('EventLines', () => {
  it('does work in proportion to the bytes of a line, in however many pieces it comes', () => {
    const piece = Buffer.alloc(4_000, 'x')
    const pieces = 1_000
    const events: unknown[] = []
    const work = countWork(() => {
      const lines = new EventLines()
      lines.take(Buffer.from('data: {"a":"'))
      for (let count = 0; count < pieces; count += 1) lines.take(piece)
      events.push(...lines.take(Buffer.from('"}\n')))
    })
    expect(events).toEqual([{ a: 'x'.repeat(piece.length * pieces) }])
    expect(work).toBeLessThan(4 * piece.length * pieces)
  })

  it('reads data with and without a space before it, and nothing else', () => {
    const text = 'event: a\ndata:{"a":1}\r\ndata: {"b":2}\ndata: [3]\ndata: no\n\ndata:{"c":3}\n'
    expect(new EventLines().take(Buffer.from(text))).toEqual([{ a: 1 }, { b: 2 }, { c: 3 }])
  })

  it('skips a line beyond the limit to its end, and reads the next', () => {
    const lines = new EventLines()
    for (let count = 0; count < 17; count += 1) lines.take(Buffer.alloc(2 ** 20, 'x'))
    expect(lines.take(Buffer.from('data: {"a":1}\ndata: {"b":2}\n'))).toEqual([{ b: 2 }])
    expect(lines.take(Buffer.from('data: {"c":3}\n'))).toEqual([{ c: 3 }])
  })
})
