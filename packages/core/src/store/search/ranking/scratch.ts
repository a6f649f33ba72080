import type { PassageTable } from '../passage-table.ts'

/**
 * Buffers per passage and entry, reused between rankings: clearing the used cells is far cheaper
 * than allocating.
 */
export class Scratch {
  score = new Float64Array(0)
  presence = new Float64Array(0)
  /** How many words, and how many names, of the question a passage contains itself. */
  heldWords = new Uint8Array(0)
  heldNames = new Uint8Array(0)
  cells = new Uint32Array(0)
  touched = new Uint32Array(0)
  bestScore = new Float64Array(0)
  bestPassage = new Uint32Array(0)
  isHolding = new Uint8Array(0)
  /** Of a passage that counts for a chosen one: 1 + its place among these. */
  nearPlace = new Uint32Array(0)
  pairPlaces = new Uint32Array(0)
  pairWeights = new Float64Array(0)

  fit({ slots, entries }: PassageTable): this {
    if (slots > this.score.length) {
      this.score = new Float64Array(slots)
      this.presence = new Float64Array(slots)
      this.heldWords = new Uint8Array(slots)
      this.heldNames = new Uint8Array(slots)
      this.cells = new Uint32Array(slots)
      this.touched = new Uint32Array(slots)
      this.nearPlace = new Uint32Array(slots)
    }
    if (entries > this.bestScore.length) {
      this.bestScore = new Float64Array(entries)
      this.bestPassage = new Uint32Array(entries)
      this.isHolding = new Uint8Array(entries)
    }
    return this
  }

  fitPairs(pairs: number): void {
    if (pairs <= this.pairPlaces.length) return
    this.pairPlaces = new Uint32Array(pairs)
    this.pairWeights = new Float64Array(pairs)
  }
}
