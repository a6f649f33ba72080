import type { APIMessage } from 'discord.js'
import type { Logger } from '#core/base/logger'
import type { LoopRule } from '../../tools/send-message/loop.ts'
import type { Outgoing, Sent } from '../chat/platform.ts'
import { BotLoopGuard, heldNote, isNotice, noticeFor } from './bot-loop-guard.ts'
import { addressesBot } from './incoming.ts'

export interface BreakerTerms {
  readonly self: string
  readonly bots: readonly string[]
  /** Null: no limit on short messages between bots. */
  readonly rule: LoopRule | null
  readonly address: string
  /**
   * When we, or this bot if it runs on the same store, last called a tool because of this channel.
   */
  readonly findAct: (bot: string) => Promise<number | null>
  /** The messages after a message, oldest first. */
  readonly readAfter: (id: string) => Promise<readonly APIMessage[]>
  readonly send: (out: Outgoing) => Promise<Sent>
  readonly logger: Logger
}

/** A message that started no turn, with a note for our agent. */
export interface KeptMessage {
  readonly message: APIMessage
  readonly note: string | null
}

/** Stops endless acknowledgments in one channel: `BotLoopGuard` decides, this acts. */
export class Breaker {
  readonly #terms: BreakerTerms
  readonly #guard: BotLoopGuard

  constructor(terms: BreakerTerms) {
    this.#terms = terms
    this.#guard = new BotLoopGuard(terms)
  }

  hears(message: APIMessage): boolean {
    return this.#guard.hears(message)
  }

  note(message: APIMessage): void {
    this.#guard.note(message)
  }

  /** Whether this message of a bot may start a turn; otherwise it is held. */
  async passes(message: APIMessage): Promise<boolean> {
    const { id: bot } = message.author
    if (this.#guard.judge(message) === 'send') return true
    const actedAt = await this.#terms.findAct(bot)
    if (actedAt !== null) this.#guard.noteAct(bot, actedAt)
    const verdict = this.#guard.judge(message)
    if (verdict === 'send') return true
    if (verdict === 'first-hold') await this.#notify(message)
    this.#guard.hold(message, verdict)
    return false
  }

  get kept(): readonly KeptMessage[] {
    const { rule } = this.#terms
    return this.#guard.held.map(({ message, isFirst }) => ({
      message,
      note: isFirst && rule !== null ? heldNote(rule) : null,
    }))
  }

  /** Call this when the held messages are durable. */
  release(): void {
    this.#guard.release()
  }

  /** Sent only once: after a restart the channel shows that the notice was sent. */
  async #notify({ id, author }: APIMessage): Promise<void> {
    const { self, rule, address, logger } = this.#terms
    const later = await this.#terms.readAfter(id)
    const isNotified = later.some(
      (message) =>
        message.author.id === self && isNotice(message.content) && addressesBot(message, author.id),
    )
    if (isNotified || rule === null) return
    logger.warn(
      { address, bot: author.id },
      'bots only acknowledge each other: their messages wait',
    )
    const out = { address, text: noticeFor(author.id, rule), nonce: `held-${id}` }
    // Not awaited: people in this channel must not wait for a notice between bots.
    void this.#terms.send(out).then((sent) => {
      if (sent.kind === 'failed') logger.warn({ address, reason: sent.text }, 'notice not sent')
    })
  }
}
