import { lowBitsFor, shortHashOf } from '../../packages/core/src/compaction/rules/hashed-sets.ts'

/** Writes what `readHashedSets` reads. Of two labels with one hash the first has it. */
export function writeHashedSets(
  sets: ReadonlyMap<string, Iterable<string>>,
  hashBits: number,
): string {
  const taken = new Set<number>()
  const bits: boolean[] = []
  const heads: string[] = []
  for (const [label, words] of sets) {
    const hashes = [...new Set([...words].map((word) => shortHashOf(word, hashBits)))].filter(
      (hash) => !taken.has(hash),
    )
    if (hashes.length === 0) continue
    const lowBits = lowBitsFor(hashes.length, hashBits)
    let last = -1
    for (const hash of hashes.toSorted((a, b) => a - b)) {
      taken.add(hash)
      const gap = hash - last - 1
      for (let high = Math.floor(gap / 2 ** lowBits); high > 0; high--) bits.push(true)
      bits.push(false)
      for (let place = 0; place < lowBits; place++) bits.push(((gap >> place) & 1) === 1)
      last = hash
    }
    heads.push(`${label} ${hashes.length}`)
  }
  const bytes = new Uint8Array(Math.ceil(bits.length / 8))
  for (const [at, bit] of bits.entries())
    bytes[at >> 3] = (bytes[at >> 3] ?? 0) | (Number(bit) << (at & 7))
  return `${hashBits};${heads.join(',')};${Buffer.from(bytes).toString('base64')}`
}
