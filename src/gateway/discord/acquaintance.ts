import { judgeLoop, LOOP_RULE, type LoopRule, type Sign } from '../../tools/send-message/loop.ts'

/**
 * What a channel tells about a loop of bots that acknowledge each other. Bots' words to us and our
 * own words are the messages of the rule; a person's word ends the run, and so does whatever has
 * something to say. What is held wakes nobody; it goes in, in order, before the next that may.
 */
const SIGNS_MAX = 32
/** Roughly, for text in any language; the rule's threshold is no sharper. */
const CHARACTERS_PER_TOKEN = 4

export class Acquaintance<Held> {
  readonly #rule: LoopRule | null
  #signs: Sign[] = []
  #held: Held[] = []
  #moment = 0

  /** Without a rule nothing is ever held. */
  constructor(rule: LoopRule | null = LOOP_RULE) {
    this.#rule = rule
  }

  person(): void {
    this.#add({ kind: 'other' })
  }

  own(text: string): void {
    this.#add({ kind: 'message', tokens: tokensOf(text) })
  }

  /** A streamed answer begins short; what it has become counts. */
  ownGrew(text: string): void {
    if (this.#rule !== null && tokensOf(text) >= this.#rule.tokensMin) this.own(text)
  }

  /** A bot's word to us: whether it may wake us. */
  bot(text: string, held: Held): 'send' | 'hold' | 'first-hold' {
    const tokens = tokensOf(text)
    const verdict =
      this.#rule === null
        ? ({ kind: 'send' } as const)
        : judgeLoop(this.#signs, { tokens }, this.#rule)
    if (verdict.kind === 'send') {
      this.#add({ kind: 'message', tokens })
      return 'send'
    }
    this.#add({ kind: 'held' })
    this.#held.push(held)
    return verdict.isFirst ? 'first-hold' : 'hold'
  }

  get held(): readonly Held[] {
    return this.#held
  }

  /** They are durable now. */
  release(count: number): void {
    this.#held = this.#held.slice(count)
  }

  #add(sign: Omit<Sign, 'at'>): void {
    // The order of arrival is all that the rule needs of time.
    this.#signs = [...this.#signs.slice(1 - SIGNS_MAX), { ...sign, at: ++this.#moment }]
  }
}

function tokensOf(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN)
}
