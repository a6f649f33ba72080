import type { Clock } from '#core/base/clock'
import type { SessionId } from '#core/base/ids'
import type { Logger } from '#core/base/logger'
import { Recent } from '#core/base/recent'
import type { RuntimeEvent } from '#core/session/events/runtime-event'
import { warningIn } from '#core/session/events/runtime-event'
import type { Runtime } from '../../runtime/runtime.ts'
import type { Platform } from './platform.ts'
import type { ReplyPresenter } from './reply-presenter.ts'

/**
 * What people see before a reply is complete: the typing indicator, the growing answer, and a
 * notice when it takes long. All of it is provisional: a process that dies loses only this.
 *
 * An answer is previewed only after the platform's minimum time between two edits, so the outbox
 * sends a short answer once and whole.
 */
interface Watched {
  readonly address: string
  /** The time of its last event (monotonic). */
  aliveAt: number
  turn: number
  attempt: string
  text: string
  isDue: boolean
  cancelEdit: () => void
  cancelTyping: () => void
}

/**
 * The typing indicator ends after this long without an event: the turn is stuck or its process is
 * gone.
 */
const TYPING_MS_MAX = 5 * 60_000
const WATCHED_MAX = 10_000
/** Appended to an unfinished answer. */
const MORE = ' …'
/** For the person whose turn was stopped, here and in the terminal. */
export const TURN_STOPPED = '(The turn was stopped; there is no complete answer.)'

export class Live {
  readonly #platform: Platform
  readonly #runtime: Pick<Runtime, 'events'>
  readonly #presenter: ReplyPresenter
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #watched = new Recent<SessionId, Watched>(WATCHED_MAX)
  readonly #closing = new AbortController()
  #followed: Promise<void> = Promise.resolve()

  constructor(parts: {
    readonly platform: Platform
    readonly runtime: Pick<Runtime, 'events'>
    readonly presenter: ReplyPresenter
    readonly clock: Clock
    readonly logger: Logger
  }) {
    this.#platform = parts.platform
    this.#runtime = parts.runtime
    this.#presenter = parts.presenter
    this.#clock = parts.clock
    this.#logger = parts.logger
  }

  start(): void {
    this.#followed = this.#follow()
  }

  /** Shows the session's progress in the chat from now on. */
  watch(id: SessionId, address: string): void {
    const before = this.#watched.get(id)
    if (before?.address !== address) {
      if (before !== undefined) this.#rest(before)
      const none = () => {}
      const idle = { turn: 0, attempt: '', text: '', isDue: false, aliveAt: 0 }
      this.#watched.set(id, { address, ...idle, cancelEdit: none, cancelTyping: none })
    }
    this.#type(address)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    for (const watched of this.#watched.values()) this.#rest(watched)
    await this.#followed
  }

  async #follow(): Promise<void> {
    try {
      for await (const event of this.#runtime.events({}, this.#closing.signal)) this.#take(event)
    } catch (error) {
      // Replies are still sent; only their previews are missing from now on.
      this.#logger.error({ err: error }, 'events cannot be followed')
      for (const watched of this.#watched.values()) this.#rest(watched)
    }
  }

  #take(event: RuntimeEvent): void {
    if (event.type === 'caught-up') return
    const watched = this.#watched.get(event.sessionId)
    if (watched === undefined) return
    watched.aliveAt = this.#clock.monotonic()
    if (event.type === 'stored') {
      if (event.kind === 'turn started') this.#begin(watched, Number(event.facts['turn']))
      if (event.kind === 'turn ended') this.#end(event.sessionId, watched, event.facts)
      const warning = warningIn(event)
      if (warning !== null) this.#say(watched.address, event.sessionId, warning, event.cursor)
      return
    }
    switch (event.kind) {
      case 'delta':
        if (watched.attempt !== event.attempt) watched.text = ''
        watched.attempt = event.attempt
        watched.turn = event.turn
        watched.text += event.text
        this.#editSoon(event.sessionId, watched)
        break
      case 'void':
        if (watched.attempt === event.attempt) watched.text = ''
        break
      case 'notice':
        if (event.isUpdate === true) break
        this.#say(watched.address, event.sessionId, event.text, `${event.turn}-${event.code}`)
        break
      default:
    }
  }

  /** `which` identifies the notice, so that a platform shows it once. */
  #say(address: string, sessionId: SessionId, text: string, which: string | number): void {
    const nonce = `${sessionId}-${which}`
    this.#presenter.say({ address, text, nonce }).catch((error: unknown) => {
      this.#logger.warn({ sessionId, err: error }, 'notice not shown')
    })
  }

  #type(address: string): void {
    // The typing indicator is optional.
    this.#platform.showTyping(address).catch(() => {})
  }

  #begin(watched: Watched, turn: number): void {
    // Live events can arrive before stored ones, so the first words may already be here.
    if (watched.turn !== turn) this.#rest(watched)
    watched.turn = turn
    watched.cancelTyping()
    this.#keepTyping(watched)
  }

  #keepTyping(watched: Watched): void {
    if (this.#clock.monotonic() - watched.aliveAt > TYPING_MS_MAX) return
    this.#type(watched.address)
    const { typingMs } = this.#platform.capabilities
    watched.cancelTyping = this.#clock.after(typingMs, () => this.#keepTyping(watched))
  }

  #editSoon(id: SessionId, watched: Watched): void {
    if (watched.isDue || !this.#platform.capabilities.edits) return
    watched.isDue = true
    const { editEveryMs } = this.#platform.capabilities
    watched.cancelEdit = this.#clock.after(editEveryMs, () => void this.#edit(id, watched))
  }

  async #edit(sessionId: SessionId, watched: Watched): Promise<void> {
    const { address, turn, text } = watched
    if (text.trim() !== '') {
      const key = `${sessionId}-${turn}`
      const said = { sessionId, key, address, text: `${text}${MORE}`, isFinal: false }
      await this.#presenter.show(said).catch((error: unknown) => {
        this.#logger.warn({ sessionId, err: error }, 'growing answer not shown')
      })
    }
    watched.isDue = false
    if (watched.turn === turn && watched.text !== text) this.#editSoon(sessionId, watched)
  }

  #end(sessionId: SessionId, watched: Watched, facts: { readonly [name: string]: unknown }): void {
    const { address } = watched
    // A turn may end without a reply, or reply elsewhere; either way this preview is finished.
    const text = facts['ended'] === 'stopped' ? `${watched.text}\n\n${TURN_STOPPED}` : watched.text
    this.#rest(watched)
    const key = `${sessionId}-${facts['turn']}`
    this.#presenter.giveUp({ sessionId, key, address, text }).catch((error: unknown) => {
      this.#logger.warn({ sessionId, err: error }, 'growing answer not closed')
    })
  }

  #rest(watched: Watched): void {
    watched.cancelEdit()
    watched.cancelTyping()
    watched.isDue = false
    watched.text = ''
    watched.attempt = ''
  }
}
