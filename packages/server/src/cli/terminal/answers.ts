import { entryNumber } from '#core/base/ids'
import type { JsonObject } from '#core/base/json'
import { plainText } from '#core/message/text'
import { NOT_SMALLER } from '#core/session/context/budget'
import type { RuntimeEvent } from '#core/session/events/runtime-event'
import { warningIn } from '#core/session/events/runtime-event'
import { TURN_STOPPED } from '../../gateway/chat/live.ts'
import type { Session, SessionSummary } from '../../runtime/runtime.ts'
import { grouped } from './format.ts'

/** The output of a live conversation. */
export interface Screen {
  /** The next piece of the answer. */
  stream(text: string): void
  /** The answer is complete. */
  endAnswer(): void
  /** A line for the person. */
  say(text: string): void
}

/**
 * Shows a session's answers as they arrive: in pieces if this process runs the turn, whole if
 * another one does. The transcript is authoritative: pieces of an interrupted attempt are
 * withdrawn, and an answer that was not streamed is read from it.
 */
export class AnswerDisplay {
  readonly #session: Pick<Session, 'transcript'>
  readonly #screen: Screen
  /** The step whose pieces are on the screen: turn and what its context was built up to. */
  #streamed: string | null = null
  /** The turn that the last message was delivered to. */
  #turn: unknown = null
  /** The notice last printed in this wait. Later tries repeat it, and it is printed once. */
  readonly #noticed = new Set<string>()
  /** Why the last short retry was needed, with a space after it; empty: there was none. */
  #reason = ''

  constructor(session: Pick<Session, 'transcript'>, screen: Screen) {
    this.#session = session
    this.#screen = screen
  }

  async show(event: RuntimeEvent): Promise<void> {
    if (event.type === 'live') this.#showLive(event)
    else if (event.type === 'stored') await this.#showStored(event)
  }

  #showLive(event: Extract<RuntimeEvent, { type: 'live' }>): void {
    switch (event.kind) {
      case 'delta':
        this.#streamed = stepOf(event.turn, event.step)
        this.forgetNotices()
        this.#screen.stream(event.text)
        return
      case 'void':
        if (this.#streamed === null) return
        this.#streamed = null
        this.#screen.endAnswer()
        this.#screen.say('(The answer was interrupted and will start again.)')
        return
      case 'call':
        this.#screen.endAnswer()
        this.#screen.say(`(uses ${event.tool})`)
        return
      case 'notice':
        this.#notice(event)
        return
      case 'reasoning':
        return
      default:
        event satisfies never
    }
  }

  #notice(event: Extract<RuntimeEvent, { type: 'live'; kind: 'notice' }>): void {
    const { turn, code, text } = event
    const said = `${turn} ${code} ${text}`
    if (this.#noticed.has(said)) return
    this.#noticed.add(said)
    // The notice of a wait begins with the reason that the short retries before it have shown.
    const reason = code === 'retrying' ? '' : this.#reason
    if (code === 'retrying') this.#reason = `${text} `
    const isRepeated = reason !== '' && text.startsWith(reason)
    this.#screen.say(noticeText(isRepeated ? { ...event, text: text.slice(reason.length) } : event))
  }

  /** The next notice is shown even if it is the same: the wait is over, or the person asked for a try. */
  forgetNotices(): void {
    this.#noticed.clear()
    this.#reason = ''
  }

  async #showStored(event: Extract<RuntimeEvent, { type: 'stored' }>): Promise<void> {
    const { kind, facts } = event
    if (kind === 'turn ended') this.forgetNotices()
    if (kind === 'step committed') {
      const isStreamed = this.#streamed === stepOf(facts['turn'], facts['upto'])
      this.#streamed = null
      if (!isStreamed) this.#screen.stream(await this.#textAt(Number(facts['entry'])))
      this.#screen.endAnswer()
      return
    }
    if (kind === 'message delivered') this.#noteDelivery(facts)
    const notice = noticeFor(kind, facts)
    if (notice !== null) this.#screen.say(notice)
    const warning = warningIn(event)
    if (warning !== null) this.#screen.say(`(${warning})`)
  }

  /** Without a word, one of two messages would seem to have no answer. */
  #noteDelivery({ turn = null, mail }: JsonObject): void {
    const isJoined = turn === this.#turn || (Array.isArray(mail) && mail.length > 1)
    this.#turn = turn
    if (isJoined) this.#screen.say('(One answer will cover all messages since the last answer.)')
  }

  async #textAt(entry: number): Promise<string> {
    const number = entryNumber(entry)
    const [found] = (await this.#session.transcript({ from: number, to: number })) ?? []
    return found?.message?.role === 'assistant' ? plainText(found.message.parts) : ''
  }
}

/** Includes the time of the next try, if there is one, and what the person can do meanwhile. */
export function noticeText({
  text,
  nextTryAt,
  code,
}: Extract<RuntimeEvent, { type: 'live'; kind: 'notice' }>): string {
  const todo = code === 'waiting-for-model' ? ' /continue tries now, /stop ends the turn.' : ''
  const isTimed = nextTryAt !== undefined && code !== 'waiting-for-approval'
  return `${waitText({ text, nextTryAt: isTimed ? nextTryAt : null })}${todo}`
}

/** Why a turn waits, and when the next try is. */
export function waitText({ text, nextTryAt }: NonNullable<SessionSummary['wait']>): string {
  if (nextTryAt === null) return text
  const seconds = Math.max(0, Math.round((nextTryAt - Date.now()) / 1_000))
  // A try that is due now may fail like the one before it, and the next notice names a later time.
  return seconds === 0 ? `${text} Trying again.` : `${text} Next try in ${seconds} s.`
}

function stepOf(turn: unknown, upto: unknown): string {
  return `${turn} ${upto}`
}

/** How a turn ended, for the person; null: with an answer. */
export function turnEndText(ended: unknown): string | null {
  if (ended === 'stopped') return TURN_STOPPED
  return ended === 'failed' ? '(The turn failed; send the message again to retry.)' : null
}

function noticeFor(kind: string, facts: JsonObject): string | null {
  const { ended, state, reason, tokensBefore, tokensAfter } = facts
  switch (kind) {
    case 'turn ended':
      return turnEndText(ended)
    case 'compaction committed': {
      const sizes =
        typeof tokensBefore === 'number' && typeof tokensAfter === 'number'
          ? `, ${grouped(tokensBefore)} -> ${grouped(tokensAfter)} tokens`
          : ''
      return `(Compacted: a handoff now replaces the older part of the conversation${sizes}.)`
    }
    case 'compaction failed':
      // A conversation that is too small for a handoff is no failure; `/compact` itself says so.
      return reason === NOT_SMALLER
        ? null
        : '(The compaction failed and will be retried; nothing changed.)'
    case 'session deleted':
      // Reported when the purge begins, not again when its last row is gone.
      return state === 'gone' ? null : '(This session was purged.)'
    default:
      return null
  }
}
