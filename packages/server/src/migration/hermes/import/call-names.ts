import { otherNameOf } from '#core/message/formats/hermes/hermes'
import type { Message } from '#core/message/message'

/** Codex's calls have two ids, and a result may use either. Only the newest are remembered. */
const NAMES_MAX = 1_000

export class CallNames {
  readonly #byOther = new Map<string, string>()

  /** The message unchanged, except that a result gets the id that its call has here. */
  settle(message: Message): Message {
    if (message.role === 'assistant') {
      for (const part of message.parts) {
        const other = part.type === 'tool-call' ? otherNameOf(part) : null
        if (part.type === 'tool-call' && other !== null) this.#remember(other, part.id)
      }
    }
    if (message.role !== 'tool' || this.#byOther.size === 0) return message
    const parts = message.parts.map((part) => {
      const callId = this.#byOther.get(part.callId)
      return callId === undefined ? part : { ...part, callId }
    })
    return { ...message, parts }
  }

  #remember(other: string, id: string): void {
    this.#byOther.set(other, id)
    const [oldest] = this.#byOther.keys()
    if (this.#byOther.size > NAMES_MAX) this.#byOther.delete(oldest ?? '')
  }
}
