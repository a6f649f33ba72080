import { splitsCharacter } from '../../base/line.ts'

/**
 * The unit that is searched and shown: at most 300 characters of an entry, cut where a line ends,
 * else a sentence, else a word, within the second half. Passages without a letter or digit are left
 * out, so that a number counts the same passages whether it is made from text or read from an index.
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

/** Behind the last sign that ends a sentence; 0 where there is none. */
function lastSentenceEnd(text: string): number {
  for (let at = text.length - 1; at >= 0; at--) {
    const sign = text[at] as string
    if ('。！？'.includes(sign)) return at + 1
    if ('.!?'.includes(sign) && (at + 1 === text.length || text[at + 1] === ' ')) return at + 1
  }
  return 0
}
