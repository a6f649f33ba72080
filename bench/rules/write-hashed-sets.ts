import {
  codesOf,
  nextOf,
  ROW_BYTES,
  rowOf,
  startOf,
  wordHash,
} from '../../packages/core/src/compaction/rules/hashed-sets.ts'

/**
 * Writes what `readHashedSets` reads. Of two labels with one word the first has it. About one other word in
 * `2 ** strayBits` gets a label.
 */
export function writeHashedSets(
  sets: ReadonlyMap<string, Iterable<string>>,
  strayBits: number,
): string {
  const labels = new Map<number, string>()
  for (const [label, words] of sets)
    for (const word of words) {
      const hash = wordHash(word)
      if (!labels.has(hash)) labels.set(hash, label)
    }
  const heads = writeHeads([...labels.values()], strayBits)
  const codes = new Map([...codesOf(heads)].map(([code, label]) => [label, code]))
  const wanted = [...labels].flatMap(([hash, label]) => {
    const bits = (codes.get(label) ?? 0).toString(2).slice(1)
    return [...bits].map((bit, place) => ({ row: rowOf(hash, place), isOdd: bit === '1' }))
  })
  // Rows of random bits nearly always fit into a few hundredths more bits than there are rows.
  for (let bytes = Math.ceil(wanted.length / 8); ; bytes += Math.ceil(bytes / 400)) {
    const table = solve(wanted, bytes)
    if (table !== undefined) return `${heads};${Buffer.from(table).toString('base64')}`
  }
}

/** Short codes for labels that many words have, and as much room for no code as wanted. */
function writeHeads(labels: readonly string[], strayBits: number): string {
  const counts = new Map<string, number>()
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1)
  const byLength = Map.groupBy(counts.keys(), (label) =>
    Math.round(strayBits + Math.log2(labels.length / (counts.get(label) ?? 1))),
  )
  return [...byLength]
    .toSorted(([a], [b]) => a - b)
    .map(([length, all]) => [length, ...all].join(' '))
    .join(',')
}

interface Wanted {
  readonly row: number
  readonly isOdd: boolean
}

/** Which bits are picked, from the first one on, and whether their sum is odd. */
interface Equation {
  readonly picks: bigint
  readonly isOdd: boolean
}

/** By elimination: in the end no two equations pick the same bit first. */
function solve(wanted: readonly Wanted[], bytes: number): Uint8Array | undefined {
  const byFirst = new Map<number, Equation>()
  // In the order of their beginnings, so that no sum of two reaches further than the later one.
  const ordered = wanted.toSorted((a, b) => startOf(a.row, bytes) - startOf(b.row, bytes))
  for (const { row, isOdd: wantedOdd } of ordered) {
    let first = 8 * startOf(row, bytes)
    let [picks, isOdd] = [picksOf(row), wantedOdd]
    for (; picks !== 0n; ) {
      const zeros = zerosBefore(picks)
      picks >>= BigInt(zeros)
      first += zeros
      const other = byFirst.get(first)
      if (other === undefined) break
      picks ^= other.picks
      isOdd = isOdd !== other.isOdd
    }
    if (picks !== 0n) byFirst.set(first, { picks, isOdd })
    else if (isOdd) return undefined
  }
  const table = new Uint8Array(bytes)
  for (const [first, { picks, isOdd }] of [...byFirst].toSorted(([a], [b]) => b - a)) {
    let isSet = isOdd
    let at = first
    for (const bit of [...picks.toString(2)].reverse()) {
      if (bit === '1' && (((table[at >> 3] ?? 0) >> (7 - (at & 7))) & 1) === 1) isSet = !isSet
      at++
    }
    if (isSet) table[first >> 3] = (table[first >> 3] ?? 0) | (0x80 >> (first & 7))
  }
  return table
}

function picksOf(row: number): bigint {
  let picks = ''
  for (let word = row; picks.length < 8 * ROW_BYTES; word = nextOf(word))
    picks += (word >>> 0).toString(2).padStart(32, '0')
  return BigInt(`0b${[...picks].reverse().join('')}`)
}

function zerosBefore(picks: bigint): number {
  let zeros = 0
  let rest = picks
  while ((rest & 0xffffffffn) === 0n) {
    rest >>= 32n
    zeros += 32
  }
  const low = Number(rest & 0xffffffffn)
  return zeros + 31 - Math.clz32(low & -low)
}
