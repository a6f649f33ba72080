/**
 * The items with the highest scores, in that order; of equals the highest item first. A heap keeps
 * the best so far with the weakest on top, so most items cost one comparison.
 */
export function firstOf(
  items: ArrayLike<number>,
  count: number,
  scores: Float64Array,
): readonly number[] {
  const heap: number[] = []
  const some = count > FEW && items.length > 4 * count ? highest(items, count, scores) : items
  for (let index = 0; index < some.length; index++) {
    const item = some[index] as number
    if (heap.length < count) siftUp(heap, item, scores)
    else if (count > 0 && isWeaker(scores, heap[0] as number, item)) siftDown(heap, item, scores)
  }
  return heap.sort((a, b) => (isWeaker(scores, a, b) ? 1 : -1))
}

/** For so few, the heap is fast enough. */
const FEW = 16
const LEVELS = 1_024

/** At least so many items with the highest scores, and few others: counted by levels of the score. */
function highest(items: ArrayLike<number>, count: number, scores: Float64Array): readonly number[] {
  let most = 0
  for (let index = 0; index < items.length; index++) {
    most = Math.max(most, scores[items[index] as number] as number)
  }
  const perScore = most > 0 ? (LEVELS - 1) / most : 0
  const counts = new Uint32Array(LEVELS)
  for (let index = 0; index < items.length; index++) {
    const level = Math.floor((scores[items[index] as number] as number) * perScore)
    counts[level] = (counts[level] as number) + 1
  }
  let least = LEVELS
  for (let left = count; left > 0 && least > 0; ) left -= counts[--least] as number
  const found: number[] = []
  for (let index = 0; index < items.length; index++) {
    const item = items[index] as number
    if (Math.floor((scores[item] as number) * perScore) >= least) found.push(item)
  }
  return found
}

function isWeaker(scores: Float64Array, a: number, b: number): boolean {
  const [ofA, ofB] = [scores[a] as number, scores[b] as number]
  return ofA < ofB || (ofA === ofB && a < b)
}

function siftUp(heap: number[], item: number, scores: Float64Array): void {
  let at = heap.length
  heap.push(item)
  while (at > 0) {
    const parent = (at - 1) >> 1
    if (!isWeaker(scores, item, heap[parent] as number)) break
    heap[at] = heap[parent] as number
    at = parent
  }
  heap[at] = item
}

/** Replaces the item on top. */
function siftDown(heap: number[], item: number, scores: Float64Array): void {
  let at = 0
  for (;;) {
    let child = 2 * at + 1
    if (child >= heap.length) break
    const next = child + 1
    if (next < heap.length && isWeaker(scores, heap[next] as number, heap[child] as number)) {
      child = next
    }
    if (!isWeaker(scores, heap[child] as number, item)) break
    heap[at] = heap[child] as number
    at = child
  }
  heap[at] = item
}
