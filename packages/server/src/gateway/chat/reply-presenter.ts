import type { Clock } from '#core/base/clock'
import { Recent } from '#core/base/recent'
import type { Store } from '#core/store/contract'
import type { DraftKey } from '#core/store/operational-rows'
import type { Outgoing, Platform, Sent } from './platform.ts'
import { retryDelay } from './retry-delay.ts'
import { splitText } from './split.ts'

export type Drafts = Pick<Store, 'putDraft' | 'findDraft' | 'listReplies'>

export interface PresentedText extends DraftKey {
  readonly address: string
  readonly text: string
  /** The complete reply; before it, previews show parts of it. */
  readonly isFinal: boolean
}

export type PresentResult =
  | { readonly kind: 'presented'; readonly receipt: string }
  /** `why`: the platform's answer, for a final failure. */
  | {
      readonly kind: 'failed'
      readonly retryAfterMs?: number
      readonly isFinal?: true
      readonly why?: string
    }

/** One reply in its chat: the platform's ids of its messages and the current text of each. */
interface Board {
  readonly ids: string[]
  readonly texts: string[]
  /** A process that died before it recorded the id may have sent one more message. */
  hasUnknown: boolean
  isStored: boolean
  work: Promise<unknown>
}

/** The delay after an outage; all chats of the platform wait together. */
const OUTAGE_RETRY_MS = 10_000
const FINISHED_MAX = 1_000
const BOARDS_MAX = 1_000
/** Text of a surplus message while the reply is shorter than its preview. */
const NOTHING = '…'
/** Marks, in a draft, a message that is being sent. */
const UNKNOWN = ''
const WAITING_MAX = 100

/**
 * Makes chats show replies: sends missing messages and edits those with another text. The id of a
 * sent message is durable before anything else is done with it, so that after a crash the reply
 * continues in the same messages. A message can be sent twice only if the process dies between the
 * platform's acceptance and that commit; a platform with a nonce prevents even that.
 */
export class ReplyPresenter {
  readonly #platform: Platform
  readonly #drafts: Drafts
  readonly #clock: Clock
  /** A reply that is no longer in memory is restored from its draft. */
  readonly #boards = new Recent<string, Board>(BOARDS_MAX)
  readonly #finished = new Recent<string, true>(FINISHED_MAX)
  /** Until when the platform accepts no messages: to an address, or (``) at all. */
  readonly #heldUntil = new Recent<string, number>(BOARDS_MAX)
  #lone: Promise<unknown> = Promise.resolve()

  constructor(parts: {
    readonly platform: Platform
    readonly drafts: Drafts
    readonly clock: Clock
  }) {
    this.#platform = parts.platform
    this.#drafts = parts.drafts
    this.#clock = parts.clock
  }

  /** Runs one at a time per reply, so that the complete reply comes after its previews. */
  async show(said: PresentedText): Promise<PresentResult> {
    if (!said.isFinal && this.#finished.has(said.key)) return { kind: 'failed' }
    const board = this.#boards.get(said.key) ?? newBoard()
    this.#boards.set(said.key, board)
    const work = board.work.then(() => this.#bring(board, said))
    board.work = work.catch(() => {})
    const result = await work
    if (said.isFinal && result.kind === 'presented') this.#finish(said.key)
    return result
  }

  /** Call this when the turn has ended. Without a reply, its preview stays with this text. */
  async giveUp({ sessionId, key, ...said }: Omit<PresentedText, 'isFinal'>): Promise<void> {
    const board = this.#boards.get(key)
    if (board === undefined) return
    await board.work
    if (await this.#isAnswered(board, { sessionId, key })) return
    if (board.ids.length > 0) await this.show({ ...said, sessionId, key, isFinal: true })
    this.#finish(key)
    await this.#drafts.putDraft({ sessionId, key, ids: [] })
  }

  /** The outbox has the reply, or has settled it: then that commit removed the draft. */
  async #isAnswered(board: Board, { sessionId, key }: DraftKey): Promise<boolean> {
    const query = { sessionId, state: 'waiting', limit: WAITING_MAX } as const
    const waiting = await this.#drafts.listReplies(query)
    if (waiting.some((reply) => reply.key === key)) return true
    return board.ids.length > 0 && (await this.#drafts.findDraft({ sessionId, key })) === undefined
  }

  /** Sends a message that is not part of a reply. */
  async say(out: Outgoing): Promise<Sent> {
    const held = this.#heldMs(out.address)
    if (held > 0) return { kind: 'failed', why: 'rate', retryAfterMs: held, text: 'held back' }
    const sent = await this.#platform.send(out)
    if (sent.kind === 'failed') this.#hold(out.address, sent)
    return sent
  }

  async #bring(
    board: Board,
    { sessionId, key, address, text, isFinal }: PresentedText,
  ): Promise<PresentResult> {
    if (!isFinal && this.#finished.has(key)) return { kind: 'failed' }
    const held = this.#heldMs(address)
    if (held > 0) return { kind: 'failed', retryAfterMs: held }
    await this.#restore(board, { sessionId, key })
    // A preview must not appear above an earlier reply that still waits to be sent.
    if (!isFinal && board.ids.length === 0) {
      const earlier = await this.#drafts.listReplies({ sessionId, state: 'waiting', limit: 1 })
      if (earlier.length > 0) return { kind: 'failed' }
    }
    const pieces = [...splitText(text, this.#platform.capabilities.lengthMax)]
    const { length } = pieces
    while (!isFinal && pieces.length < board.ids.length) pieces.push(NOTHING)
    for (const [at, piece] of pieces.entries()) {
      if (board.texts[at] === piece) continue
      const out = { address, text: piece, nonce: `${key}-${at}` }
      const id = board.ids[at]
      const edited = id === undefined ? null : await this.#platform.edit({ ...out, id })
      // A person removed the message; its text is sent again.
      const isGone = edited?.kind === 'failed' && edited.why === 'gone'
      // If the reply comes out shorter, a message without a known id would be left behind.
      const isKnown = isFinal || at === 0 || !this.#platform.capabilities.nonce
      if (id === undefined && !isKnown) await this.#announce(board, { sessionId, key })
      const put = () => this.#send(board, at, out, { sessionId, key })
      const sent = edited === null || isGone ? await this.#alone(put) : edited
      if (sent.kind === 'failed') return this.#hold(address, sent)
      board.texts[at] = piece
    }
    if (isFinal && board.hasUnknown) {
      // Sending again with the same nonce finds or creates it; it is then removed with the surplus.
      const at = board.ids.length
      const out = { address, text: NOTHING, nonce: `${key}-${at}` }
      const found = await this.#send(board, at, out, { sessionId, key })
      if (found.kind === 'failed') return this.#hold(address, found)
    }
    while (isFinal && board.ids.length > length) {
      const removed = await this.#removeLast(board, address, { sessionId, key })
      if (removed.kind === 'failed') return this.#hold(address, removed)
    }
    return { kind: 'presented', receipt: board.ids.at(-1) ?? '' }
  }

  /** A message that cannot be removed is blanked instead. */
  async #removeLast(board: Board, address: string, key: DraftKey): Promise<Sent> {
    const id = board.ids.at(-1) ?? ''
    const removed = await this.#platform.remove({ address, id })
    if (removed.kind === 'failed' && removed.why !== 'final') return removed
    if (removed.kind === 'failed') {
      await this.#platform.edit({ address, id, text: NOTHING, nonce: '' })
    }
    board.ids.pop()
    board.texts.length = board.ids.length
    await this.#keep(board, key)
    return { kind: 'sent', id }
  }

  async #send(board: Board, at: number, out: Outgoing, key: DraftKey): Promise<Sent> {
    const sent = await this.#platform.send(out)
    if (sent.kind === 'failed') return sent
    board.ids[at] = sent.id
    board.texts[at] = out.text
    board.hasUnknown = false
    board.isStored = false
    await this.#keep(board, key)
    return sent
  }

  async #announce(board: Board, key: DraftKey): Promise<void> {
    board.hasUnknown = true
    await this.#keep(board, key)
  }

  /**
   * Without a nonce only one message is sent at a time, until its id is durable: a kill can repeat
   * that message, but not one in every chat.
   */
  #alone(put: () => Promise<Sent>): Promise<Sent> {
    if (this.#platform.capabilities.nonce) return put()
    const sent = this.#lone.then(put)
    this.#lone = sent.catch(() => {})
    return sent
  }

  /** Reads the ids of messages sent by another process, or before a crash. */
  async #restore(board: Board, key: DraftKey): Promise<void> {
    if (board.ids.length === 0) {
      const known = await this.#drafts.findDraft(key)
      board.ids.push(...(known?.ids ?? []).filter((id) => id !== UNKNOWN))
      board.hasUnknown = known?.ids.includes(UNKNOWN) ?? false
    } else if (!board.isStored) await this.#keep(board, key)
  }

  async #keep(board: Board, { sessionId, key }: DraftKey): Promise<void> {
    const ids = board.hasUnknown ? [...board.ids, UNKNOWN] : board.ids
    await this.#drafts.putDraft({ sessionId, key, ids })
    board.isStored = true
  }

  #finish(key: string): void {
    this.#boards.delete(key)
    this.#finished.set(key, true)
  }

  #heldMs(address: string): number {
    const until = Math.max(this.#heldUntil.get('') ?? 0, this.#heldUntil.get(address) ?? 0)
    const held = until - this.#clock.monotonic()
    if (held <= 0) this.#heldUntil.delete(address)
    return Math.max(0, held)
  }

  #hold(address: string, failed: Extract<Sent, { kind: 'failed' }>): PresentResult {
    if (failed.why === 'final' || failed.why === 'gone') {
      return { kind: 'failed', isFinal: true, why: failed.text }
    }
    const isOutage = failed.why === 'outage'
    const retryAfterMs = isOutage
      ? (failed.retryAfterMs ?? OUTAGE_RETRY_MS)
      : retryDelay(failed.retryAfterMs, OUTAGE_RETRY_MS)
    const whom = isOutage ? '' : address
    this.#heldUntil.set(whom, this.#clock.monotonic() + retryAfterMs)
    return { kind: 'failed', retryAfterMs }
  }
}

function newBoard(): Board {
  return { ids: [], texts: [], hasUnknown: false, isStored: true, work: Promise.resolve() }
}
