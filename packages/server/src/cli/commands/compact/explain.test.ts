import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compact } from '#core/compaction/compact'
import { CONTEXT_KINDS } from '#core/compaction/report/breakdown'
import type { Message } from '#core/message/message'
import { type Canvas, explainResult, shareCells } from './explain.ts'

const plain: Canvas = { columns: 80, coloured: false, paint: (_, text) => text }

const kinds = fc.dictionary(fc.constantFrom(...CONTEXT_KINDS), fc.integer({ min: 0, max: 200_000 }))

describe('shareCells', () => {
  it('fills the bar exactly, and shows every kind', () => {
    fc.assert(
      fc.property(kinds, fc.integer({ min: 12, max: 120 }), (tokens, width) => {
        const cells = shareCells(tokens, width)
        const present = CONTEXT_KINDS.filter((kind) => (tokens[kind] ?? 0) > 0)
        expect(Object.keys(cells).sort()).toEqual(present.toSorted())
        expect(Object.values(cells).every((count) => count >= 1)).toBe(true)
        const total = Object.values(cells).reduce((sum, count) => sum + count, 0)
        expect(total).toBe(present.length === 0 ? 0 : width)
      }),
    )
  })

  it('gives the larger kind the longer piece', () => {
    expect(shareCells({ head: 900, tail: 90, system: 10 }, 20)).toEqual({
      head: 17,
      tail: 2,
      system: 1,
    })
  })

  it('shows the first kinds in a bar too narrow for all', () => {
    expect(shareCells({ system: 1, head: 1, tail: 1 }, 2)).toEqual({ system: 1, head: 1 })
  })
})

describe('explainResult', () => {
  it('draws both bars to one scale, no line wider than the terminal', async () => {
    const result = await compact(longConversation(), { budget: { targetTokens: 2_000 } })
    for (const columns of [72, 80, 120]) {
      const lines = explainResult(result, { ...plain, columns }).split('\n')
      expect(lines.filter((line) => line.length > columns)).toEqual([])
      const [before = '', after = ''] = lines
      expect(before).toMatch(/^before +[\d,]+ tokens +80 messages {2}[a-z.=>#]+$/)
      expect(after.length).toBeLessThan(before.length)
      expect(before).toHaveLength(columns)
    }
  })

  it('reports the reduction', async () => {
    const result = await compact(longConversation(), { budget: { targetTokens: 2_000 } })
    const { tokensBefore, tokensAfter } = result.stats
    const [, share] = /^(\d+)% smaller\./m.exec(explainResult(result, plain)) ?? []
    expect(Number(share)).toBe(Math.round((100 * (tokensBefore - tokensAfter)) / tokensBefore))
    expect(Number(share)).toBeLessThan(100)
  })

  it('aligns the figures of the legend', async () => {
    const result = await compact(longConversation(), { budget: { targetTokens: 2_000 } })
    const legend = explainResult(result, plain).match(/^(\S)\1 [a-z]+ +[\d,]+ {2}(?=\S)/gm) ?? []
    expect(legend.length).toBeGreaterThan(3)
    expect(new Set(legend.map((figure) => figure.length)).size).toBe(1)
  })

  it("tells what became of the user's requests, in figures above nought", async () => {
    const verbose = longConversation().map((message, index): Message => {
      const topic = String.fromCodePoint(0x61 + (index % 26)).repeat(5)
      const words = text(`Explain ${topic} and all that belongs to ${topic}. `.repeat(60))
      return message.role === 'user' ? { role: 'user', parts: [words] } : message
    })
    const seen = { shortened: 0, dropped: 0, whole: 0 }
    for (const messages of [longConversation(), verbose]) {
      const result = await compact(messages, { budget: { targetTokens: 2_000 } })
      const { kept, open, truncated, dropped } = result.stats.preserved
      const told = /\d+ requests? word for word.*/.exec(explainResult(result, plain))?.[0]
      const figures = [
        [
          kept - truncated,
          kept - truncated === 1 ? 'request word for word' : 'requests word for word',
        ],
        ...[[open, 'still open'] as const, [truncated, 'shortened'] as const],
        [dropped, 'older left out'],
      ] as const
      const due = figures.filter(([count], at) => at === 0 || count > 0)
      expect(told).toBe(due.map(([count, what]) => `${count} ${what}`).join(', '))
      seen.shortened += truncated
      seen.dropped += dropped
      seen.whole += dropped === 0 ? 1 : 0
    }
    expect(
      Object.values(seen).map((count) => count > 0),
      JSON.stringify(seen),
    ).toEqual([true, true, true])
  })

  it('names the newest request', async () => {
    const result = await compact(longConversation(), { budget: { targetTokens: 2_000 } })
    expect(explainResult(result, plain)).toContain('newest request: Question 39')
  })

  it('counts the facts of the ledger by kind', async () => {
    const messages = longConversation().map((message, index): Message => {
      const found = text(`See https://example.org/a/${index}.`)
      return index < 8 && message.role === 'assistant' ? { ...message, parts: [found] } : message
    })
    const result = await compact(messages, { budget: { targetTokens: 3_000 } })
    expect(explainResult(result, plain)).toContain('4 facts: 4 urls')
  })

  it('prints no control character of a conversation', async () => {
    const evil = 'Please \u001b]0;owned\u0007\u001b[2J\u009b31m\u202e\r\nlook'
    const messages: Message[] = [...longConversation(), { role: 'user', parts: [text(evil)] }]
    const drawn = explainResult(await compact(messages, { budget: { targetTokens: 2_000 } }), plain)
    expect(drawn).toContain('newest request: Please')
    expect(drawn.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  })
})

function longConversation(): Message[] {
  return Array.from({ length: 40 }, (_, index): Message[] => [
    { role: 'user', parts: [text(`Question ${index} about src/part-${index}.ts`)] },
    {
      role: 'assistant',
      parts: [text(`Answer ${index}. ${'It depends on many things. '.repeat(20)}`)],
    },
  ]).flat()
}

function text(words: string) {
  return { type: 'text', text: words } as const
}
