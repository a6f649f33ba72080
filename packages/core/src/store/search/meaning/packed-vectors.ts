/**
 * Vectors as stored: one byte for each dimension, the largest of a vector being 127 or -127. Only
 * directions are compared, so the length of a vector is not kept (decision 86).
 */
export function packVectors(vectors: readonly Float32Array[], dimension: number): Uint8Array {
  const packed = new Int8Array(vectors.length * dimension)
  for (const [place, vector] of vectors.entries()) {
    const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1
    for (let at = 0; at < dimension; at++) {
      packed[place * dimension + at] = Math.round(((vector[at] ?? 0) / largest) * 127)
    }
  }
  return new Uint8Array(packed.buffer)
}

/** The cosine between a vector and one of those that are stored: 1 is the same direction. */
export function cosineTo(vector: Float32Array): (packed: Int8Array, place: number) => number {
  const length = Math.hypot(...vector)
  const dimension = vector.length
  return (packed, place) => {
    const from = place * dimension
    let product = 0
    let squares = 0
    for (let at = 0; at < dimension; at++) {
      const value = packed[from + at] as number
      product += value * (vector[at] as number)
      squares += value * value
    }
    return squares === 0 || length === 0 ? 0 : product / (Math.sqrt(squares) * length)
  }
}
