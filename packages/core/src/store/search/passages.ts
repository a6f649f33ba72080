import { splitsCharacter } from '../../base/line.ts'

/**
 * The unit of searching and display: at most 300 characters of an entry, cut after a line, else a
 * sentence, else a word, within the second half. Passages without a letter or digit are skipped, so
 * that passage numbers computed from text agree with those in an index.
 */
export const PASSAGE_CHARACTERS_MAX = 300
const HALF = PASSAGE_CHARACTERS_MAX / 2
const HAS_WORD = /[\p{L}\p{N}]/u

export function cutPassages(text: string): readonly string[] {
  const passages: string[] = []
  for (let from = 0; from < text.length; ) {
    const to = endOf(text, from)
    const passage = text.slice(from, to)
    if (HAS_WORD.test(passage)) passages.push(passage)
    from = to
  }
  return passages
}

function endOf(text: string, from: number): number {
  const limit = from + PASSAGE_CHARACTERS_MAX
  if (limit >= text.length) return text.length
  const half = text.slice(from + HALF, limit)
  const line = half.lastIndexOf('\n')
  if (line >= 0) return from + HALF + line + 1
  const sentence = lastSentenceEnd(half)
  if (sentence > 0) return from + HALF + sentence
  const blank = half.lastIndexOf(' ')
  if (blank >= 0) return from + HALF + blank + 1
  return splitsCharacter(text, limit) ? limit - 1 : limit
}

/** The position after the last sentence end; 0 if there is none. */
function lastSentenceEnd(text: string): number {
  for (let at = text.length - 1; at >= 0; at--) {
    const sign = text[at] as string
    if ('。！？'.includes(sign)) return at + 1
    if ('.!?'.includes(sign) && (at + 1 === text.length || text[at + 1] === ' ')) return at + 1
  }
  return 0
}
