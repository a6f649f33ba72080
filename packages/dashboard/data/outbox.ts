import { signal } from '@preact/signals'
import { call, ServerRefusal, sessionPath } from './api.ts'
import { keep, kept } from './keep.ts'

/**
 * Messages on their way to the server. Each has a key from the moment it is sent, is kept in the tab
 * until the server has it for good, and is sent again with the same key after a lost answer, so it
 * arrives once whatever happens to the connection, the server or the page.
 */
interface Unsent {
  readonly key: string
  readonly text: string
  /** Its number in the mailbox once the server has it. */
  readonly mail: number | null
  readonly problem: string | null
}

const AGAIN_MS = 1_000
const placeOf = (sessionId: string) => `throughline-outbox-${sessionId}`

/** The first message of a session that is opened next: it is sent as soon as it is on the screen. */
export function leaveFor(sessionId: string, text: string): void {
  const first: Unsent = { key: crypto.randomUUID(), text, mail: null, problem: null }
  keep(placeOf(sessionId), JSON.stringify([first]))
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
    const unsent = JSON.parse(kept(placeOf(sessionId)) ?? '[]') as Unsent[]
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

  /** Refused by the server: the person decides. */
  drop(key: string): void {
    this.#change(this.items.value.filter((each) => each.key !== key))
  }

  /** The mailbox was read since: what was taken before is shown there, or in the transcript. */
  forget(taken: readonly number[]): void {
    const left = this.items.value.filter(({ mail }) => mail === null || !taken.includes(mail))
    if (left.length !== this.items.value.length) this.#change(left)
  }

  /** What the server has, and is still shown from here. */
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
    keep(placeOf(this.#sessionId), unsent.length === 0 ? null : JSON.stringify(unsent))
  }

  #patch(key: string, more: Partial<Unsent>): void {
    this.#change(this.items.value.map((each) => (each.key === key ? { ...each, ...more } : each)))
  }

  /** One after another, so that they arrive in the order in which they were written. */
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
      if (!this.#isClosed) this.#timer = setTimeout(() => void this.#send(), AGAIN_MS)
    } finally {
      this.#isSending = false
    }
  }
}
