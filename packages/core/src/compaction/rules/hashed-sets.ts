/**
 * Sets of words of which only the labels are kept, in as few bits as that takes (11 to 17 for a word). A word of no
 * set gets a label with a small chance; the program that writes the sets chooses it.
 *
 * Each label has a code, short if many words have the label, and no code begins with another. A hash of the word
 * and of a place in the code picks some bits of a table; the code's bit there is 1 if their sum is odd. The table
 * is solved so that every word of a set gets its code. Other words get random bits, which are mostly no code.
 *
 * Written as `length label label,length label;table`: the labels in the order of their codes, and the table in
 * base64. `bench/rules/write-hashed-sets.ts` writes them.
 */
export function readHashedSets(written: string): (word: string) => string | undefined {
  const [heads = '', coded = ''] = written.split(';')
  const table = new DataView(Uint8Array.from(atob(coded), (byte) => byte.charCodeAt(0)).buffer)
  const labels = codesOf(heads)
  return (word) => {
    const hash = wordHash(word)
    for (let code = 1, place = 0; ; place++) {
      let row = rowOf(hash, place)
      const at = startOf(row, table.byteLength)
      let picked = 0
      for (let byte = 0; byte < ROW_BYTES; byte += 4) {
        picked ^= row & table.getInt32(at + byte)
        row = nextOf(row)
      }
      code = 2 * code + oddness(picked)
      const label = labels.get(code)
      if (label !== '') return label
    }
  }
}

/** The labels by their codes, each with a one before it, and empty texts for the beginnings of codes. */
export function codesOf(heads: string): ReadonlyMap<number, string> {
  const codes = new Map<number, string>()
  let code = 1
  for (const head of heads.split(',')) {
    const [length, ...labels] = head.split(' ')
    while (code < 2 ** Number(length)) code *= 2
    for (const label of labels) {
      codes.set(code, label)
      for (let beginning = code >> 1; beginning > 1; beginning >>= 1) codes.set(beginning, '')
      code++
    }
  }
  return codes
}

/** The bytes of the table from which a bit of a code may pick. */
export const ROW_BYTES = 16

/** FNV-1a. */
export function wordHash(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash
}

/** The first 32 bits of the row: those that are 1 pick a bit of the table. */
export function rowOf(hash: number, place: number): number {
  return mixed(hash + Math.imul(place, 0x9e3779b1))
}

/** The next 32 bits of a row. */
export function nextOf(row: number): number {
  return Math.imul(row ^ (row >>> 15), 0x735a2d97)
}

/** Where the row begins in a table of so many bytes. */
export function startOf(row: number, bytes: number): number {
  return (row >>> 0) % (bytes - ROW_BYTES + 1)
}

function mixed(hash: number): number {
  const twice = nextOf(Math.imul(hash ^ (hash >>> 16), 0x21f0aaad))
  return twice ^ (twice >>> 15)
}

function oddness(bits: number): number {
  let sum = bits
  for (let by = 16; by > 0; by >>= 1) sum ^= sum >>> by
  return sum & 1
}
