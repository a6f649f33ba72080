/** The known root closest to an unknown word: same first letter, most trigrams shared. */
const LETTERS_MIN = 5
const SIMILAR_MIN = 0.6
export const SIMILAR_WEIGHT = 0.7

export function mayBeMistyped(root: string): boolean {
  return root.length >= LETTERS_MIN && /^\p{L}+$/u.test(root)
}

/** Whether one may be a misspelling of the other. */
export function isComparable(one: string, other: string): boolean {
  return Math.abs(one.length - other.length) <= 3 && one[0] === other[0]
}

export function closestRoot(root: string, known: Iterable<string>): string | null {
  const own = trigrams(root)
  let best: string | null = null
  let most = SIMILAR_MIN
  for (const each of known) {
    if (!isComparable(each, root)) continue
    const others = trigrams(each)
    let shared = 0
    for (const trigram of others) if (own.has(trigram)) shared++
    const similar = (2 * shared) / (own.size + others.size)
    if (similar > most || (similar === most && (best === null || each < best))) {
      most = similar
      best = each
    }
  }
  return best
}

function trigrams(word: string): Set<string> {
  const padded = ` ${word} `
  const found = new Set<string>()
  for (let at = 0; at + 3 <= padded.length; at++) found.add(padded.slice(at, at + 3))
  return found
}
