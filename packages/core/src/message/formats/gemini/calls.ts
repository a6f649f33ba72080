import type { Part, ToolCallPart } from '../../message.ts'
import { hasWord, ownOrigin } from '../origin.ts'

interface Call {
  readonly id: string
  readonly name: string
  readonly order: number
  /** Whether Gemini gave the id; an id of ours is not sent back. */
  readonly isTheirs: boolean
}

/**
 * The calls of the newest reply. Gemini may leave out their ids: then the responses come in the
 * order of the calls, matched by name.
 */
export class GeminiCalls {
  #calls: Call[] = []
  readonly #answered = new Set<string>()

  nextTurn(): void {
    this.#calls = []
    this.#answered.clear()
  }

  note(part: ToolCallPart): void {
    const isTheirs = !hasWord(ownOrigin(part, 'gemini'), 'no-id')
    this.#calls.push({ id: part.id, name: part.name, order: this.#calls.length, isTheirs })
  }

  get size(): number {
    return this.#calls.length
  }

  find(id: string): Call | undefined {
    return this.#calls.find((call) => call.id === id)
  }

  /** The call that a response without an id answers. */
  answer(name: string | undefined): string | undefined {
    const open = this.#calls.find((call) => call.name === name && !this.#answered.has(call.id))
    if (open !== undefined) this.#answered.add(open.id)
    return open?.id
  }

  sorted(parts: readonly Part[]): readonly Part[] {
    const order = (part: Part) =>
      part.type === 'tool-result' ? (this.find(part.callId)?.order ?? 0) : 0
    return parts.toSorted((a, b) => order(a) - order(b))
  }
}
