/** The name that was probably meant; undefined if none is similar. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  const wanted = fold(name)
  if (wanted.length === 0 || wanted.length > LENGTH_MAX) return undefined
  let best: string | undefined
  let least = Math.min(3, Math.floor(wanted.length / 3)) + 1
  for (const each of names) {
    const distance = distanceOf(wanted, fold(each))
    if (distance >= least) continue
    least = distance
    best = each
  }
  // `openai` for `openai-chat`
  return best ?? names.find((each) => each.startsWith(`${name}-`))
}

const LENGTH_MAX = 64

/** `soft_share`, `soft-share` and `SoftShare` count as the same name. */
function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}

/** Edit distance: letters to change, add, drop or swap with their neighbour. */
function distanceOf(a: string, b: string): number {
  let older: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swap = isSwap ? (older[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY
      next.push(Math.min(change, swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    older = row
    row = next
  }
  return row[b.length] ?? 0
}
