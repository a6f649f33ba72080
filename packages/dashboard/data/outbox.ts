import { signal } from '@preact/signals'
import { call, isLocked, ServerRefusal, sessionPath } from './api.ts'
import { keep, kept, keptNames } from './keep.ts'

/**
 * Messages on their way to the server. Each gets a key when it is sent, stays in the tab until the
 * server has stored it, and is sent again with the same key if the answer was lost, so it arrives
 * exactly once. That goes on while the tab shows something else.
 */
interface Unsent {
  readonly key: string
  readonly text: string
  /** Its number in the mailbox once the server has it. */
  readonly mail: number | null
  readonly problem: string | null
}

const RETRY_MS = 1_000
const PREFIX = 'throughline-outbox-'

const outboxes = new Map<string, Outbox>()

export function outboxOf(sessionId: string): Outbox {
  const outbox = outboxes.get(sessionId) ?? new Outbox(sessionId)
  outboxes.set(sessionId, outbox)
  return outbox
}

/** Sends what was left when the tab was last loaded. */
export function startOutboxes(): void {
  for (const name of keptNames(PREFIX)) outboxOf(name.slice(PREFIX.length))
}

class Outbox {
  readonly items = signal<readonly Unsent[]>([])
  /** Called when the server has stored a message. */
  onTaken: () => void = () => {}
  readonly #sessionId: string
  #isSending = false

  constructor(sessionId: string) {
    this.#sessionId = sessionId
    const unsent = JSON.parse(kept(PREFIX + sessionId) ?? '[]') as Unsent[]
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

  #change(items: readonly Unsent[]): void {
    this.items.value = items
    const unsent = items.filter(({ mail }) => mail === null)
    keep(PREFIX + this.#sessionId, unsent.length === 0 ? null : JSON.stringify(unsent))
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
        if (next === undefined) return
        const { key, text } = next
        const path = sessionPath(this.#sessionId, '/messages')
        const { mail } = await call<{ mail: number }>(path, { method: 'POST', body: { text }, key })
        this.#patch(key, { mail })
        this.onTaken()
      }
    } catch (error) {
      const first = this.items.value.find(({ mail, problem }) => mail === null && problem === null)
      const isFinal =
        error instanceof ServerRefusal && [400, 403, 404, 409, 410, 413].includes(error.status)
      if (isFinal && first !== undefined) this.#patch(first.key, { problem: error.message })
      // Signing in again reloads the page.
      if (!isLocked.value) setTimeout(() => void this.#send(), RETRY_MS)
    } finally {
      this.#isSending = false
    }
  }
}
