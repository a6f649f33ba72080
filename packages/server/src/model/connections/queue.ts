import type { StreamPiece } from '../model.ts'

/**
 * A queue of pieces between the reader of the wire and the consumer of the answer. Text that
 * arrives together is delivered as one piece: a slow stream gives a piece per token; a fast stream
 * or a busy consumer gives a few large ones, at a fraction of the cost. A consumer that falls far
 * behind makes the reader wait.
 */
export class PieceQueue {
  readonly #pieces: StreamPiece[] = []
  #characters = 0
  #reader: ((result: IteratorResult<StreamPiece>) => void) | undefined
  #writer: PromiseWithResolvers<void> | undefined
  #isClosed = false
  #isWaking = false

  /** Call one at a time. After the piece `end`, and after `close`, there is nothing more. */
  next(): Promise<IteratorResult<StreamPiece>> {
    const result = this.#take()
    if (result !== undefined) return Promise.resolve(result)
    return new Promise((resolve) => {
      this.#reader = resolve
    })
  }

  /** If the consumer is far behind, returns a promise that resolves when it has caught up. */
  push(piece: StreamPiece): Promise<void> | undefined {
    if (this.#isClosed) return undefined
    const last = this.#pieces.at(-1)
    if (isWords(piece) && last?.kind === piece.kind) {
      this.#pieces[this.#pieces.length - 1] = { kind: piece.kind, text: last.text + piece.text }
    } else this.#pieces.push(piece)
    if (isWords(piece)) this.#characters += piece.text.length
    this.#wake()
    if (this.#characters < CHARACTERS_MAX) return undefined
    this.#writer ??= Promise.withResolvers<void>()
    return this.#writer.promise
  }

  close(): void {
    this.#isClosed = true
    this.#pieces.length = 0
    this.#characters = 0
    this.#release()
    this.#reader?.(DONE)
    this.#reader = undefined
  }

  #take(): IteratorResult<StreamPiece> | undefined {
    const piece = this.#pieces.shift()
    if (piece === undefined) return this.#isClosed ? DONE : undefined
    if (isWords(piece)) this.#characters -= piece.text.length
    if (piece.kind === 'end') this.#isClosed = true
    this.#release()
    return { done: false, value: piece }
  }

  #release(): void {
    if (this.#characters >= CHARACTERS_MAX) return
    this.#writer?.resolve()
    this.#writer = undefined
  }

  /** Runs after everything that the last socket read delivered. */
  #wake(): void {
    if (this.#isWaking || this.#reader === undefined) return
    this.#isWaking = true
    setImmediate(() => {
      this.#isWaking = false
      const result = this.#reader === undefined ? undefined : this.#take()
      if (result === undefined) return
      const reader = this.#reader
      this.#reader = undefined
      reader?.(result)
    })
  }
}

const CHARACTERS_MAX = 1_000_000
const DONE: IteratorResult<StreamPiece> = { done: true, value: undefined }

function isWords(
  piece: StreamPiece,
): piece is Extract<StreamPiece, { kind: 'text' | 'reasoning' }> {
  return piece.kind === 'text' || piece.kind === 'reasoning'
}
