/**
 * Which of some patterns a character matches, as bits in their order. A pattern with Unicode classes
 * takes many times longer than a lookup, so each character is matched once. Expects at most fifteen
 * patterns, and code points.
 */
export function characterClasses(...patterns: readonly RegExp[]): (code: number) => number {
  const known = new Uint16Array(2 ** 16)
  const match = (code: number) => {
    const character = String.fromCodePoint(code)
    return patterns.reduce((bits, each, at) => bits | (each.test(character) ? 1 << at : 0), KNOWN)
  }
  return (code) => {
    if (code >= known.length) return match(code) & ~KNOWN
    let bits = known[code] as number
    if (bits === 0) {
      bits = match(code)
      known[code] = bits
    }
    return bits & ~KNOWN
  }
}

const KNOWN = 0x8000
