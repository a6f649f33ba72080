import { signal } from '@preact/signals'
import { call, ServerRefusal, sessionPath } from './api.ts'
import { keep, kept } from './keep.ts'

/**
 * Messages on their way to the server. Each gets a key when it is sent, stays in the tab until the
 * server has stored it, and is sent again with the same key if the answer was lost, so it arrives
 * exactly once.
 */
interface Unsent {
  readonly key: string
  readonly text: string
  /** Its number in the mailbox once the server has it. */
  readonly mail: number | null
  readonly problem: string | null
}

const RETRY_MS = 1_000
const storageKey = (sessionId: string) => `throughline-outbox-${sessionId}`

/** Queues the first message of a session; it is sent when the session opens. */
export function queueFirstMessage(sessionId: string, text: string): void {
  const first: Unsent = { key: crypto.randomUUID(), text, mail: null, problem: null }
  keep(storageKey(sessionId), JSON.stringify([first]))
}

export class Outbox {
  readonly items = signal<readonly Unsent[]>([])
  readonly #sessionId: string
  readonly #onTaken: () => void
  #isSending = false
  #isClosed = false
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(sessionId: string, onTaken: () => void) {
    this.#sessionId = sessionId
    this.#onTaken = onTaken
    const unsent = JSON.parse(kept(storageKey(sessionId)) ?? '[]') as Unsent[]
    this.items.value = unsent
    if (unsent.length > 0) void this.#send()
  }

  add(text: string): void {
    this.#change([
      ...this.items.value,
      { key: crypto.randomUUID(), text, mail: null, problem: null },
    ])
    void this.#send()
  }

  /** Removes a message that the server refused, at the person's request. */
  drop(key: string): void {
    this.#change(this.items.value.filter((each) => each.key !== key))
  }

  /** Drops messages that the mailbox or the transcript shows by now. */
  forget(taken: readonly number[]): void {
    const left = this.items.value.filter(({ mail }) => mail === null || !taken.includes(mail))
    if (left.length !== this.items.value.length) this.#change(left)
  }

  /** Messages that the server has and this page still shows. */
  get taken(): readonly number[] {
    return this.items.value.flatMap(({ mail }) => (mail === null ? [] : [mail]))
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  #change(items: readonly Unsent[]): void {
    this.items.value = items
    const unsent = items.filter(({ mail }) => mail === null)
    keep(storageKey(this.#sessionId), unsent.length === 0 ? null : JSON.stringify(unsent))
  }

  #patch(key: string, more: Partial<Unsent>): void {
    this.#change(this.items.value.map((each) => (each.key === key ? { ...each, ...more } : each)))
  }

  /** Sends one at a time, so that messages arrive in the order they were written. */
  async #send(): Promise<void> {
    if (this.#isSending) return
    this.#isSending = true
    try {
      for (;;) {
        const next = this.items.value.find(({ mail, problem }) => mail === null && problem === null)
        if (next === undefined || this.#isClosed) return
        const { key, text } = next
        const path = sessionPath(this.#sessionId, '/messages')
        const { mail } = await call<{ mail: number }>(path, { method: 'POST', body: { text }, key })
        this.#patch(key, { mail })
        this.#onTaken()
      }
    } catch (error) {
      const first = this.items.value.find(({ mail, problem }) => mail === null && problem === null)
      const isFinal =
        error instanceof ServerRefusal && [400, 403, 404, 409, 410, 413].includes(error.status)
      if (isFinal && first !== undefined) this.#patch(first.key, { problem: error.message })
      clearTimeout(this.#timer)
      if (!this.#isClosed) this.#timer = setTimeout(() => void this.#send(), RETRY_MS)
    } finally {
      this.#isSending = false
    }
  }
}
