/**
 * Sets of words of which only hashes are kept: two bytes for each word, where the words themselves take
 * four, compressed. The fewer bits a hash has, the more often another word is taken for one of theirs.
 *
 * Written as `bits;label count,label count;hashes`: for each label its hashes in rising order, as Rice
 * codes of the gaps between them, in base64. `bench/rules/write-hashed-sets.ts` writes them.
 */
export function readHashedSets(written: string): (word: string) => string | undefined {
  const [bits = '', heads = '', coded = ''] = written.split(';')
  const bytes = atob(coded)
  let at = 0
  const bit = () => (bytes.charCodeAt(at >> 3) >> (at++ & 7)) & 1
  const labels = new Map<number, string>()
  for (const head of heads.split(',')) {
    const [label = '', count] = head.split(' ')
    const lowBits = lowBitsFor(Number(count), Number(bits))
    let hash = -1
    for (let left = Number(count); left > 0; left--) {
      let gap = 1
      while (bit() === 1) gap += 2 ** lowBits
      for (let place = 0; place < lowBits; place++) gap += bit() * 2 ** place
      hash += gap
      labels.set(hash, label)
    }
  }
  return (word) => labels.get(shortHashOf(word, Number(bits)))
}

/** The gaps between hashes are about this long, so their low bits are as good as random. */
export function lowBitsFor(count: number, bits: number): number {
  return Math.max(0, Math.round(Math.log2((2 ** bits / count) * Math.LN2)))
}

/** FNV-1a, with its bits mixed once more. */
export function shortHashOf(text: string, bits: number): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> (32 - bits)
}
