/**
 * Merges two rankings by reciprocal ranks: 1 / (60 + rank) in each, added. Of equals, those of the
 * first ranking come first. So far as `depth`: what the first ranking has beyond it follows in its
 * order, so that every page of an answer is cut from the same list.
 */
const RANK_OFFSET = 60
export const FUSED_DEPTH = 200

export function fuse<Item>(
  first: readonly Item[],
  second: readonly Item[],
  keyOf: (item: Item) => string,
  depth = FUSED_DEPTH,
): readonly Item[] {
  const fused = new Map<string, { readonly item: Item; score: number }>()
  for (const ranking of [first, second]) {
    for (const [rank, item] of ranking.slice(0, depth).entries()) {
      const score = 1 / (RANK_OFFSET + rank + 1)
      const known = fused.get(keyOf(item))
      if (known === undefined) fused.set(keyOf(item), { item, score })
      else known.score += score
    }
  }
  const rest = first.slice(depth).filter((item) => !fused.has(keyOf(item)))
  const best = [...fused.values()].sort((a, b) => b.score - a.score)
  return [...best.map(({ item }) => item), ...rest]
}
