import { expect, it } from 'vitest'
import { gatherWords, type WordSource } from './gather.ts'

const BEST_FIRST: readonly WordSource[] = ['argument', 'kept', 'body', 'said', 'asked', 'result']

it('a word is judged by the best of its sources, in whatever order they come', () => {
  const sourceAfter = (...sources: readonly WordSource[]) => {
    const texts = sources.map((source, number) => ({ text: 'kestrel_42', source, number }))
    return gatherWords(texts).get('kestrel_42')?.source
  }
  for (const [rank, better] of BEST_FIRST.entries()) {
    for (const worse of BEST_FIRST.slice(rank)) {
      expect([sourceAfter(better, worse), sourceAfter(worse, better)]).toEqual([better, better])
    }
  }
})
