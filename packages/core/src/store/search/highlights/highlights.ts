import type { Search } from '../../queries.ts'
import { phrasesIn } from '../filter.ts'
import { LANGUAGES } from '../languages/languages.ts'
import { isUnspaced, partsOf, questionOf, rootOf, UNSPACED, wordsIn } from '../words.ts'

/** A range of a text that matches the question; the end is exclusive. */
export interface Highlight {
  readonly from: number
  readonly to: number
}

/** The words and phrases of a question in a text, in order, without overlaps. */
export function highlightsIn(
  text: string,
  query: Pick<Search, 'text' | 'exact'>,
): readonly Highlight[] {
  const phrases = phrasesIn(query).flatMap((phrase) => occurrencesOf(phrase, text))
  const found = query.exact === true ? phrases : [...phrases, ...wordsAsked(text, query.text)]
  return merged(found)
}

const RUN = new RegExp(`(?:${UNSPACED}\\p{M}*)+|[[\\p{L}\\p{M}\\p{N}]--${UNSPACED}]+`, 'gv')
const CHARACTER = /.\p{M}*/gsu

/** Words by their roots, as in the index; a name is marked whole if a part of it matches. */
function wordsAsked(text: string, question: string): readonly Highlight[] {
  const asked = questionOf(question, new Set(LANGUAGES.map(({ name }) => name)))
  const roots = new Set(asked.flatMap(({ roots: each, parts }) => [...each, ...parts]))
  const isAsked = (word: string) =>
    LANGUAGES.some((language) => roots.has(rootOf(word.toLowerCase(), language)))
  return [...text.matchAll(RUN)].flatMap(({ 0: run, index }) =>
    isUnspaced(run)
      ? pairsIn(run, index).filter(({ from, to }) => wordsIn(text.slice(from, to)).some(isAsked))
      : wordsIn(run).some((word) => isAsked(word) || partsOf(word).some(isAsked))
        ? [{ from: index, to: index + run.length }]
        : [],
  )
}

/** Each character with the next one; a single character by itself. */
function pairsIn(run: string, start: number): readonly Highlight[] {
  const ends = Array.from(run.matchAll(CHARACTER), ({ 0: each, index }) => index + each.length)
  if (ends.length === 1) return [{ from: start, to: start + run.length }]
  return ends.slice(1).map((end, at) => ({ from: start + (ends[at - 1] ?? 0), to: start + end }))
}

/** Ignores case and the amount of white space. */
function occurrencesOf(phrase: string, text: string): readonly Highlight[] {
  const { folded, starts } = fold(text)
  const wanted = fold(phrase).folded
  const found: Highlight[] = []
  if (wanted === '') return found
  for (let at = folded.indexOf(wanted); at >= 0; at = folded.indexOf(wanted, at + wanted.length)) {
    const to = starts[at + wanted.length] ?? text.length
    found.push({ from: starts[at] as number, to })
  }
  return found
}

/** The text folded for comparison, with the original position of each character. */
function fold(text: string): { readonly folded: string; readonly starts: readonly number[] } {
  const starts: number[] = []
  let folded = ''
  let at = 0
  for (const character of text) {
    const isBlank = /\s/.test(character)
    const piece = !isBlank ? character.toLowerCase() : folded.endsWith(' ') ? '' : ' '
    folded += piece
    for (let unit = 0; unit < piece.length; unit++) starts.push(at)
    at += character.length
  }
  return { folded, starts }
}

function merged(found: readonly Highlight[]): readonly Highlight[] {
  const result: Highlight[] = []
  for (const { from, to } of found.toSorted((a, b) => a.from - b.from || b.to - a.to)) {
    const last = result.at(-1)
    if (last === undefined || from > last.to) result.push({ from, to })
    else if (to > last.to) result[result.length - 1] = { from: last.from, to }
  }
  return result
}
