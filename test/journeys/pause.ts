import { setTimeout as sleep } from 'node:timers/promises'
import { estimateText } from '../../packages/core/src/tokens/estimate.ts'
import type { Follower } from './follower.ts'
import { Journey, SUMMARIES } from './journey.ts'

/**
 * How long a person waits for the first word, away from a compaction and at one. The summary takes
 * as long as it is told to; the conversation goes on meanwhile at its own pace.
 */
export interface PauseTerms {
  readonly way: 'background' | 'blocking'
  readonly store: 'memory' | 'sqlite'
  readonly summaryMs: number
  /** From one message to the next. */
  readonly paceMs: number
  /** Compactions to go through. */
  readonly compactions: number
}

export interface Paused {
  /** Milliseconds from the post of a message to the first word of its answer. */
  readonly away: readonly number[]
  /** The same, of messages sent while a handoff was written, and of the first behind it. */
  readonly boundary: readonly number[]
  readonly notices: number
  /** Answers that waited for about as long as a summary takes. */
  readonly waits: number
  readonly compactions: number
}

const WINDOW_TOKENS = 64_000
const SENTENCE = 'The pump was started at dawn and ran without a fault until the evening. '
const SENTENCE_TOKENS = estimateText(SENTENCE, 'generic')
const FILLER_SENTENCES = 300
const SHORT = SENTENCE.repeat(4)
/** So much is left to be talked before a compaction begins. */
const LEFT_TOKENS = 400
/** Messages after each compaction. */
const AWAY = 10

export async function measurePause(terms: PauseTerms): Promise<Paused> {
  const { way, store, summaryMs, paceMs } = terms
  const softShare = way === 'background' ? 0.75 : 1
  const journey = await Journey.open({
    store,
    windowTokens: WINDOW_TOKENS,
    runtime: { settings: { softShare, idleCompactionMs: null, atHardLimit: 'wait' } },
    model: {
      speed: { firstByteMs: 20 },
      script: ({ model }) => (model === SUMMARIES ? undefined : { text: 'It is noted.' }),
    },
  })
  journey.model.faults.always(`latency; ms=${summaryMs}`, {
    when: ({ model }) => model === SUMMARIES,
  })
  try {
    const id = await journey.make()
    const talk = new Talk(journey, id, await journey.follow(id))
    // The first answer of a process is slow in either case.
    for (let n = 0; n < 5; n++) await talk.say(SHORT)
    talk.forget()
    for (let round = 0; round < terms.compactions; round++) {
      await talk.fill()
      await talk.goThroughCompaction(paceMs)
      for (let n = 0; n < AWAY; n++) {
        await talk.say(SHORT)
        await sleep(paceMs)
      }
    }
    return talk.paused(summaryMs)
  } finally {
    await journey.close()
  }
}

class Talk {
  readonly #journey: Journey
  readonly #id: string
  readonly #follower: Follower
  #away: number[] = []
  #boundary: number[] = []

  constructor(journey: Journey, id: string, follower: Follower) {
    this.#journey = journey
    this.#id = id
    this.#follower = follower
  }

  forget(): void {
    this.#away = []
    this.#boundary = []
  }

  /** One message and its answer; how long its first word took is noted where it belongs. */
  async say(text: string): Promise<void> {
    const isAt = this.#isCompacting
    const begun = this.#begun
    const tookMs = await this.#firstWord(text)
    // A compaction that began with this very message is the boundary too.
    if (isAt || this.#begun > begun) this.#boundary.push(tookMs)
    else this.#away.push(tookMs)
  }

  /** Up to a few messages below the limit at which a compaction begins, in large steps. */
  async fill(): Promise<void> {
    for (;;) {
      const { json } = await this.#journey.call(`/v1/sessions/${this.#id}/context`)
      const left = Math.min(json.softTokens, json.hardTokens) - json.tokens - LEFT_TOKENS
      if (left < SENTENCE_TOKENS) return
      const sentences = Math.min(FILLER_SENTENCES, Math.floor(left / SENTENCE_TOKENS))
      await this.#firstWord(SENTENCE.repeat(sentences))
    }
  }

  /** Talks on until a compaction has been committed, and one message more. */
  async goThroughCompaction(paceMs: number): Promise<void> {
    const before = this.#committed
    while (this.#committed === before) {
      await this.say(SHORT)
      await sleep(paceMs)
    }
    this.#boundary.push(await this.#firstWord(SHORT))
  }

  paused(summaryMs: number): Paused {
    const all = [...this.#away, ...this.#boundary]
    return {
      away: this.#away,
      boundary: this.#boundary,
      notices: this.#follower.live('notice').length,
      waits: all.filter((ms) => ms > summaryMs / 2).length,
      compactions: this.#committed,
    }
  }

  async #firstWord(text: string): Promise<number> {
    const from = this.#follower.seen.length
    const sentAt = performance.now()
    await this.#journey.say(this.#id, text)
    const waitMs = 10 * 60_000
    const word = await this.#follower.until(
      (event) => event.type === 'live' && event.kind === 'delta',
      from,
      waitMs,
    )
    await this.#follower.until(
      (event) => event.type === 'stored' && event.kind === 'turn ended',
      from,
      waitMs,
    )
    return word.seenAt - sentAt
  }

  get #committed(): number {
    return this.#follower.stored('compaction committed').length
  }

  get #isCompacting(): boolean {
    return this.#begun > this.#committed
  }

  get #begun(): number {
    return this.#follower.stored('compaction started').length
  }
}
