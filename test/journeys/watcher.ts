import { setTimeout as sleep } from 'node:timers/promises'
import type { RuntimeEvent } from '../../packages/core/src/session/events/runtime-event.ts'
import { readEvents } from '../support/read-events.ts'

/** What a client shows while an answer is written, kept by the rule that a client needs. */
export interface Telling {
  /** By turn and step: what stood on the screen when the step was committed. */
  readonly shown: ReadonlyMap<string, Shown>
  /** Attempts that began to speak and died. */
  readonly died: number
  /** Connections that were lost and taken up again behind the last cursor. */
  readonly reconnects: number
  /** Stored events that came twice or out of order. */
  readonly disorder: number
}

export interface Shown {
  readonly text: string
  /** What a client would show that does not tell attempts apart. */
  readonly naive: string
}

interface Draft {
  readonly turn: number
  readonly attempt: string
  readonly text: string
}

/**
 * Follows a session over broken connections. Deltas of one step belong together by their attempt:
 * when another attempt at that step speaks, what the earlier one said is void, and so is whatever
 * was said for a step that its turn ends without.
 */
export class Watcher {
  readonly #urlOf: () => string | null
  readonly #session: string
  readonly #stop = new AbortController()
  readonly #drafts = new Map<string, Draft>()
  readonly #shown = new Map<string, Shown>()
  /** By turn: everything that was heard. */
  readonly #heard = new Map<number, string>()
  #isListening = false
  #onWord = () => {}
  #onAnswer = () => {}
  #cursor = 0
  #died = 0
  #reconnects = -1
  #disorder = 0

  constructor(urlOf: () => string | null, session: string) {
    this.#urlOf = urlOf
    this.#session = session
    void this.#run()
  }

  get telling(): Telling {
    return {
      shown: this.#shown,
      died: this.#died,
      reconnects: this.#reconnects,
      disorder: this.#disorder,
    }
  }

  /** Whether it would receive an event now. */
  get isListening(): boolean {
    return this.#isListening
  }

  close(): void {
    this.#stop.abort()
  }

  /** Resolves at the start of an answer: most of it is still to come. */
  nextWord(): Promise<void> {
    return new Promise((resolve) => {
      this.#onWord = resolve
    })
  }

  /** Resolves when a turn has ended. */
  nextAnswer(): Promise<void> {
    return new Promise((resolve) => {
      this.#onAnswer = resolve
    })
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      const url = this.#urlOf()
      try {
        if (url !== null) await this.#follow(url, signal)
      } catch {
        // The server died; there will be another.
      }
      this.#isListening = false
      if (!signal.aborted) await sleep(20)
    }
  }

  async #follow(url: string, signal: AbortSignal): Promise<void> {
    const response = await fetch(`${url}/v1/sessions/${this.#session}/events`, {
      headers: { 'last-event-id': `${this.#cursor}` },
      signal,
    })
    if (response.body === null || !response.ok) return
    this.#reconnects++
    this.#isListening = true
    for await (const { type, data } of readEvents(response.body)) {
      this.#take({ type, ...(data as object) } as RuntimeEvent)
    }
  }

  #take(event: RuntimeEvent): void {
    if (event.type === 'stored') {
      if (event.cursor <= this.#cursor) this.#disorder++
      this.#cursor = event.cursor
      if (event.kind === 'step committed') this.#commit(event.facts as unknown as Facts)
      if (event.kind === 'turn ended') this.#forget((event.facts as unknown as Facts).turn)
    } else if (event.type === 'live' && event.kind === 'delta') {
      const { turn, step, attempt, text } = event
      const name = `${turn} ${step}`
      const known = this.#drafts.get(name)
      const isNew = known?.attempt !== attempt
      if (known !== undefined && isNew) this.#died++
      this.#drafts.set(name, { turn, attempt, text: (isNew ? '' : known.text) + text })
      this.#heard.set(turn, (this.#heard.get(turn) ?? '') + text)
      if (isNew) this.#onWord()
    } else if (event.type === 'live' && event.kind === 'void') {
      this.#drafts.delete(`${event.turn} ${event.step}`)
    }
  }

  #commit({ turn, upto }: Facts): void {
    const name = `${turn} ${upto}`
    const draft = this.#drafts.get(name)
    const naive = this.#heard.get(turn) ?? ''
    if (draft !== undefined) this.#shown.set(name, { text: draft.text, naive })
    this.#drafts.delete(name)
  }

  #forget(turn: number): void {
    this.#onAnswer()
    for (const [name, draft] of this.#drafts) {
      if (draft.turn !== turn) continue
      this.#drafts.delete(name)
      this.#died++
    }
    this.#heard.delete(turn)
  }
}

interface Facts {
  readonly turn: number
  readonly upto: number
}
