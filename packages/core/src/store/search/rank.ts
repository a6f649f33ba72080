import { type EntryNumber, entryNumber } from '../../base/ids.ts'
import type { Entry } from '../rows.ts'
import { textOf, wordsOf } from './words.ts'

/**
 * The order of hits, by the usual formula (BM25) over the candidates alone, so that engines which
 * find the same candidates show the same order. Equal scores: the newer entry first.
 */
const SATURATION = 1.2
const LENGTH_WEIGHT = 0.75
export const CANDIDATES_MAX = 100

export function rankEntries(
  question: readonly string[],
  candidates: readonly Entry[],
): readonly Entry[] {
  const documents = candidates.map((entry) => ({ entry, counts: countWords(entry) }))
  const lengths = documents.map(({ counts }) => [...counts.values()].reduce((a, b) => a + b, 0))
  const meanLength = lengths.reduce((a, b) => a + b, 0) / Math.max(1, lengths.length)
  const rarity = new Map<string, number>()
  for (const word of question) {
    const having = documents.filter(({ counts }) => counts.has(word)).length
    rarity.set(word, Math.log(1 + (documents.length - having + 0.5) / (having + 0.5)))
  }
  return documents
    .map(({ entry, counts }, index) => {
      const norm =
        1 - LENGTH_WEIGHT + (LENGTH_WEIGHT * (lengths[index] ?? 0)) / Math.max(1, meanLength)
      const score = question.reduce((sum, word) => {
        const count = counts.get(word) ?? 0
        const weight = (count * (SATURATION + 1)) / (count + SATURATION * norm)
        return sum + (rarity.get(word) ?? 0) * weight
      }, 0)
      return { entry, score }
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || b.entry.number - a.entry.number)
    .map(({ entry }) => entry)
}

function countWords(entry: Entry): Map<string, number> {
  const counts = new Map<string, number>()
  for (const word of wordsOf(textOf(entry))) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

/** The numbers shown around a hit, within the transcript. */
export function around(
  number: EntryNumber,
  tail: EntryNumber,
  neighbours: number,
): { readonly from: EntryNumber; readonly to: EntryNumber } {
  const from = entryNumber(Math.max(1, number - neighbours))
  return { from, to: entryNumber(Math.min(tail, number + neighbours)) }
}
