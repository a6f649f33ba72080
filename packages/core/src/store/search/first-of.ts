/**
 * The items with the highest scores, in that order; of equals the highest item first. A heap keeps
 * the best so far with the weakest on top, so most items cost one comparison.
 */
export function firstOf(
  items: ArrayLike<number>,
  count: number,
  scores: Float64Array,
): readonly number[] {
  const isWeaker = (a: number, b: number) => {
    const difference = (scores[a] as number) - (scores[b] as number)
    return difference < 0 || (difference === 0 && a < b)
  }
  const heap: number[] = []
  for (let index = 0; index < items.length; index++) {
    const item = items[index] as number
    if (heap.length < count) siftUp(heap, item, isWeaker)
    else if (count > 0 && isWeaker(heap[0] as number, item)) siftDown(heap, item, isWeaker)
  }
  return heap.sort((a, b) => (isWeaker(a, b) ? 1 : -1))
}

type Compare = (a: number, b: number) => boolean

function siftUp(heap: number[], item: number, isWeaker: Compare): void {
  let at = heap.length
  heap.push(item)
  while (at > 0) {
    const parent = (at - 1) >> 1
    if (!isWeaker(item, heap[parent] as number)) break
    heap[at] = heap[parent] as number
    at = parent
  }
  heap[at] = item
}

/** Replaces the item on top. */
function siftDown(heap: number[], item: number, isWeaker: Compare): void {
  let at = 0
  for (;;) {
    let child = 2 * at + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && isWeaker(heap[child + 1] as number, heap[child] as number)) {
      child++
    }
    if (!isWeaker(heap[child] as number, item)) break
    heap[at] = heap[child] as number
    at = child
  }
  heap[at] = item
}
