/** The ids of the rows of each session, in order, in eight bytes each. */
export class RowIds {
  readonly #lists = new Map<string, { ids: Float64Array<ArrayBuffer>; count: number }>()

  add(sessionId: string, id: number): void {
    const list = this.#lists.get(sessionId)
    if (list === undefined) {
      this.#lists.set(sessionId, { ids: new Float64Array([id]), count: 1 })
      return
    }
    if (list.count === list.ids.length) {
      const length = Math.ceil(list.count * GROWTH) + 1
      // Moved, not copied: no old list waits to be collected.
      list.ids = new Float64Array(list.ids.buffer.transfer(length * 8))
    }
    list.ids[list.count++] = id
  }

  /** Given back at once. */
  forget(sessionId: string): void {
    this.#lists.get(sessionId)?.ids.buffer.transfer(0)
    this.#lists.delete(sessionId)
  }

  of(sessionId: string): Float64Array {
    const list = this.#lists.get(sessionId)
    return list === undefined ? new Float64Array() : list.ids.subarray(0, list.count)
  }
}

const GROWTH = 1.5
