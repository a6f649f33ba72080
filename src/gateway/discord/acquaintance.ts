import type { APIMessage } from 'discord.js'
import { LOOP_RULE, type LoopRule } from '../../tools/send-message/loop.ts'
import { isFromBot, means } from './incoming.ts'

/** What is held stands in memory; beyond this it goes in with the next word. */
const HELD_MAX = 100
/** Roughly, for text in any language; the rule's threshold is no sharper. */
const CHARACTERS_PER_TOKEN = 4

/**
 * Bots that only acknowledge each other, in one channel. Counted are the short messages in a row
 * between one other bot and us; a message with something to say begins the row of those two anew,
 * a person's word all rows. Once a row is as long as the rule allows, further short words of that
 * bot are held: they wake nobody, and go in with the next message that does.
 *
 * All of it follows from the channel's own order and from nothing else. Whoever reads the same
 * history comes to the same verdicts, so that a restart forgets nothing and nothing is stored.
 */
export class Acquaintance {
  readonly #self: string
  readonly #bots: readonly string[]
  readonly #rule: LoopRule | null
  /** By bot. */
  readonly #rows = new Map<string, number>()
  #held: readonly APIMessage[] = []

  /** Without a rule nothing is ever held. */
  constructor(parts: {
    readonly self: string
    readonly bots: readonly string[]
    readonly rule?: LoopRule | null
  }) {
    this.#self = parts.self
    this.#bots = parts.bots
    this.#rule = parts.rule === undefined ? LOOP_RULE : parts.rule
  }

  /** Nobody else's bots are heard, and of these only what they say to us. */
  hears(message: APIMessage): boolean {
    return this.#bots.includes(message.author.id) && means(message, this.#self)
  }

  /** Whether a bot's word may wake us; changes nothing. */
  judge({ author, content }: APIMessage): 'send' | 'hold' | 'first-hold' {
    const row = this.#rows.get(author.id) ?? 0
    const rule = this.#rule
    if (rule === null || row < rule.messagesMax || isTelling(content, rule)) return 'send'
    if (this.#held.length >= HELD_MAX) return 'send'
    return row === rule.messagesMax ? 'first-hold' : 'hold'
  }

  /** It was said, and stands before everything that follows. */
  note(message: APIMessage): void {
    const { author, content } = message
    if (author.id === this.#self) {
      for (const bot of this.#bots) if (means(message, bot)) this.#lengthen(bot, content)
    } else if (!isFromBot(message)) this.#rows.clear()
    else if (this.hears(message)) this.#lengthen(author.id, content)
  }

  hold(message: APIMessage): void {
    this.#held = [...this.#held, message]
  }

  get held(): readonly APIMessage[] {
    return this.#held
  }

  /** They are durable now. */
  release(): void {
    this.#held = []
  }

  #lengthen(bot: string, content: string): void {
    if (this.#rule === null) return
    if (isTelling(content, this.#rule)) this.#rows.delete(bot)
    else this.#rows.set(bot, (this.#rows.get(bot) ?? 0) + 1)
  }
}

function isTelling(content: string, { tokensMin }: LoopRule): boolean {
  return content.length >= tokensMin * CHARACTERS_PER_TOKEN
}
