import type { APIMessage } from 'discord.js'
import type { LoopRule } from '../../tools/send-message/loop.ts'
import { addressesBot, isFromBot } from './incoming.ts'
import { timeOf } from './resume-point.ts'

/** Held messages stay in memory; beyond this number they are admitted with the next message. */
const HELD_MAX = 100
/** A rough figure for text in any language; the rule's threshold needs no better one. */
const CHARACTERS_PER_TOKEN = 4

/** The short messages in a row between one other bot and us. */
interface Row {
  /** The times of the newest of them, as many as the rule allows. */
  readonly times: readonly number[]
  /** Whether both bots were notified that further ones start no turn. */
  readonly isNotified: boolean
}

export interface HeldMessage {
  readonly message: APIMessage
  /** The first held message of its row: our agent gets a note with it. */
  readonly isFirst: boolean
}

/**
 * Bots that only acknowledge each other, in one channel. It counts the short messages in a row
 * between one other bot and us. A longer message or a tool call by one of the two resets the row of
 * those two; a person's message resets all rows. Once a row is as long as the rule allows, further
 * short messages of that bot are held: they start no turn, and go in with the next message that
 * does. Both are notified once: our agent with the first held message, the other bot by a notice in
 * the channel, which is not counted and is held as well.
 *
 * All of it follows from the order of the channel and from our transcripts. The same input gives
 * the same verdicts, so nothing is stored and a restart loses nothing.
 */
export class BotLoopGuard {
  readonly #self: string
  readonly #bots: readonly string[]
  readonly #rule: LoopRule | null
  /** By bot. */
  readonly #rows = new Map<string, Row>()
  #held: readonly HeldMessage[] = []

  /** Without a rule nothing is ever held. */
  constructor(parts: {
    readonly self: string
    readonly bots: readonly string[]
    readonly rule: LoopRule | null
  }) {
    this.#self = parts.self
    this.#bots = parts.bots
    this.#rule = parts.rule
  }

  /** Whether to handle a bot's message: it is from a listed bot and addressed to us. */
  hears(message: APIMessage): boolean {
    return this.#bots.includes(message.author.id) && addressesBot(message, this.#self)
  }

  /** Whether a bot's message may start a turn; changes nothing. */
  judge({ author, content }: APIMessage): 'send' | 'hold' | 'first-hold' {
    const rule = this.#rule
    if (rule === null || this.#held.length >= HELD_MAX) return 'send'
    if (isNotice(content)) return 'hold'
    const { times, isNotified } = this.#row(author.id)
    if (times.length < rule.messagesMax || isSubstantial(content, rule)) return 'send'
    return isNotified ? 'hold' : 'first-hold'
  }

  /** Counts a message of the channel; call it in the channel's order. */
  note(message: APIMessage): void {
    const { author } = message
    if (author.id === this.#self) {
      for (const bot of this.#bots) if (addressesBot(message, bot)) this.#lengthen(bot, message)
    } else if (!isFromBot(message)) this.#rows.clear()
    else if (this.hears(message)) this.#lengthen(author.id, message)
  }

  /** One of the two called a tool at this time; messages before it no longer count. */
  noteAct(bot: string, at: number): void {
    const { times } = this.#row(bot)
    // Within one millisecond the order is unknown; assume that it was no loop.
    const later = times.filter((time) => time > at)
    if (later.length < times.length) this.#rows.set(bot, { times: later, isNotified: false })
  }

  hold(message: APIMessage, verdict: 'hold' | 'first-hold'): void {
    const isFirst = verdict === 'first-hold'
    this.#held = [...this.#held, { message, isFirst }]
    if (isFirst)
      this.#rows.set(message.author.id, { ...this.#row(message.author.id), isNotified: true })
  }

  get held(): readonly HeldMessage[] {
    return this.#held
  }

  /** Call this when the held messages are durable. */
  release(): void {
    this.#held = []
  }

  #row(bot: string): Row {
    return this.#rows.get(bot) ?? { times: [], isNotified: false }
  }

  #lengthen(bot: string, { id, author, content }: APIMessage): void {
    const rule = this.#rule
    if (rule === null) return
    const { times, isNotified } = this.#row(bot)
    if (isNotice(content)) {
      if (author.id === this.#self) this.#rows.set(bot, { times, isNotified: true })
    } else if (isSubstantial(content, rule)) this.#rows.delete(bot)
    else
      this.#rows.set(bot, {
        times: [...times, timeOf(id)].slice(-rule.messagesMax),
        isNotified,
      })
  }
}

function isSubstantial(content: string, { tokensMin }: LoopRule): boolean {
  return content.length >= tokensMin * CHARACTERS_PER_TOKEN
}

/** Other versions recognize a notice by this text, so it must not change. */
const NOTICE = 'so further ones of that kind wake nobody here. One with something to say does.)'

/** For the bot whose messages are held from now on. */
export function noticeFor(bot: string, { messagesMax }: LoopRule): string {
  return `<@${bot}> (The last ${messagesMax} messages between us were all short and nothing happened in between, ${NOTICE}`
}

/** Recognized by its text. A forged notice only keeps itself from starting a turn. */
export function isNotice(content: string): boolean {
  return content.endsWith(NOTICE)
}

/** The note to our own agent after the first held message. */
export function heldNote({ messagesMax }: LoopRule): string {
  return (
    `[This was kept without waking you: the last ${messagesMax} messages between you two were all ` +
    'short and nothing happened in between. Further ones of that kind are kept the same way.]'
  )
}
