/**
 * Virtual time. Everything that happens is an event on one timeline; between two events all
 * promises that can settle do so. `process.nextTick` runs after the microtasks, so no real timer
 * and no turn of the event loop is needed: a seed costs only its events.
 */
export interface Owner {
  /** Events of a dead owner never run. */
  readonly isDead: boolean
  readonly pausedUntil: number
}

interface Planned {
  at: number
  readonly order: number
  readonly owner: Owner | null
  run: (() => void) | null
}

export class Timeline {
  now = 0
  events = 0
  readonly #heap: Planned[] = []
  #order = 0

  /** Runs `run` later, unless its owner dies; while its owner is paused it waits. */
  plan(owner: Owner | null, delay: number, run: () => void): () => void {
    const at = this.now + Math.max(0, delay)
    const planned: Planned = { at, order: this.#order++, owner, run }
    this.#push(planned)
    return () => {
      planned.run = null
    }
  }

  /** Runs events until `after` returns true or time is up. Returns whether it returned true. */
  run(until: number, after: () => boolean): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const next = () => {
        try {
          if (this.events > 0 && after()) return resolve(true)
          for (;;) {
            const planned = this.#pop()
            if (planned === undefined || planned.at > until) {
              if (planned !== undefined) this.#push(planned)
              this.now = until
              return resolve(false)
            }
            if (planned.run === null) continue
            if (planned.owner?.isDead === true) continue
            if (planned.owner !== null && planned.owner.pausedUntil > planned.at) {
              planned.at = planned.owner.pausedUntil
              this.#push(planned)
              continue
            }
            this.now = planned.at
            this.events++
            planned.run()
            break
          }
          // Ticks run before microtasks, unless a microtask schedules them: then after all of them.
          queueMicrotask(() => process.nextTick(next))
        } catch (error) {
          reject(error)
        }
      }
      process.nextTick(next)
    })
  }

  #push(planned: Planned): void {
    const heap = this.#heap
    let index = heap.length
    heap.push(planned)
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!before(planned, heap[parent])) break
      heap[index] = heap[parent] as Planned
      index = parent
    }
    heap[index] = planned
  }

  #pop(): Planned | undefined {
    const heap = this.#heap
    const top = heap[0]
    const last = heap.pop()
    if (top === undefined || last === undefined || heap.length === 0) return top
    let index = 0
    for (;;) {
      let child = index * 2 + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && before(heap[child + 1], heap[child])) child++
      if (!before(heap[child], last)) break
      heap[index] = heap[child] as Planned
      index = child
    }
    heap[index] = last
    return top
  }
}

function before(a: Planned | undefined, b: Planned | undefined): boolean {
  if (a === undefined || b === undefined) return false
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}
