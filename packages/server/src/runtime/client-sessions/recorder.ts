import { type Clock, pause } from '#core/base/clock'
import { KnownError } from '#core/base/errors'
import type { Logger } from '#core/base/logger'
import type { SummaryWriter } from '#core/compaction/summary/summary-writer'
import type { Store } from '#core/store/contract'
import { parseItem, readBody } from '../../proxy/body.ts'
import {
  findPosition,
  type History,
  locate,
  type Placed,
  readHistory,
} from '../../proxy/history.ts'
import { type Identity, identify, type Purpose, purposeOf } from '../../proxy/identify.ts'
import { withHandoff } from '../../proxy/outgoing.ts'
import { boundariesOf, isUndone } from '../../proxy/unit-tree.ts'
import type { UpstreamReply } from '../../proxy/wire/wire.ts'
import { COUNT_PATH, findWire } from '../../proxy/wire/wires.ts'
import { HandoffThread } from '../handoff-thread/handoff-thread.ts'
import { BodyCache, type ClientRequest } from './body-cache.ts'
import type { ClientPrices } from './client-call.ts'
import { ClientSessions, clientFacts, clientTitle } from './client-sessions.ts'
import {
  frameOf,
  HARD_SHARE,
  hasKnownWindow,
  type RequestFrame,
  requestedModel,
  SOFT_SHARE,
} from './frame.ts'
import {
  countBeside,
  countedPassage,
  passUntouched,
  type RecordedPassage,
  recordCall,
} from './passage.ts'
import { type Prepared, prepareBoundary } from './prepare.ts'
import { NotRecordedError, type StoredSession } from './stored-session.ts'

/**
 * The proxy without the network: takes a request's bytes, records the new messages, and returns the
 * bytes to forward. If anything fails here, the client's own bytes are forwarded unchanged.
 */
export interface RecorderOptions {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  /** The model's window; absent: derived from its name. */
  readonly windowTokens?: number
  readonly summarize?: SummaryWriter
  readonly prices?: ClientPrices
  /** Called for each request of a conversation that is in the store now. */
  readonly onRecorded?: (identity: Identity) => void
}

const TOKENS_PER_BYTE = 0.25
const RECORD_MS_MAX = 6_000
const HANDOFF_MS_MAX = 20_000
/** After a failed handoff, the next attempt waits until the history has grown by this much. */
const RETRY_GROWTH = 1.08
const UNKNOWN_MODELS_MAX = 100

interface SessionState {
  preparing: Promise<Prepared> | null
  tokensPerByte: number
  retryAbove: number
  isTitled: boolean
}

export class Recorder {
  readonly #options: RecorderOptions
  readonly #sessions: ClientSessions
  readonly #thread = new HandoffThread()
  readonly #bodies = new BodyCache()
  readonly #states = new WeakMap<StoredSession, SessionState>()
  readonly #running = new Set<Promise<unknown>>()
  readonly #unknownModels = new Set<string>()

  constructor(options: RecorderOptions) {
    this.#options = options
    const { store, clock } = options
    this.#sessions = new ClientSessions({ store, clock })
  }

  async begin(request: ClientRequest): Promise<RecordedPassage> {
    const untouched = passUntouched(request)
    try {
      return (await this.#begin(request)) ?? untouched
    } catch (error) {
      this.#warn(error, 'a request was not recorded; it is forwarded as it came')
      return untouched
    }
  }

  /** Waits for pending writes. */
  async close(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
    await this.#thread.close()
    await this.#sessions.close()
  }

  async #begin(request: ClientRequest): Promise<RecordedPassage | null> {
    const known = findWire(request.path)
    if (known === undefined) return null
    const { name: wireName, wire } = known
    const key = this.#bodies.keyOf(request)
    const before = this.#bodies.get(key)
    const body = readBody(request.body, wire.list, before?.body)
    if (body === undefined) return null
    const read = readHistory(body, wire, before)
    const facts = { ...request, fields: body.fields, items: read.items, ...lastOf(read) }
    const identity = identify(facts)
    const isNamed = await this.#within(RECORD_MS_MAX, this.#sessions.mayOpen(identity, read.named))
    // An item that proves nothing is one like any other.
    const history = isNamed ? read : { ...read, named: null }
    const isCompact = request.path.endsWith('/compact')
    const purpose = isCompact ? 'compaction-item' : purposeOf(facts, identity)
    const isCount = request.path.endsWith(COUNT_PATH)
    if (purpose === 'side' && !isCount) {
      const take = (reply: UpstreamReply) =>
        this.#track(countBeside(this.#options, { request, identity, history }, reply))
      return countedPassage(history, { send: [request.body], boundary: 0, purpose }, take)
    }
    const isRecorded = purpose !== 'compaction' && !isCount
    if (isRecorded) this.#bodies.set(key, history)
    const frame = frameOf(history, request, this.#options.windowTokens)
    const found = this.#sessions.find(identity, history, isRecorded ? frame : null)
    const session = await this.#within(RECORD_MS_MAX, found)
    const placed = session && findPosition(session, history)
    if (session === null || placed === null) return null
    const turn = { request, session, placed, wireName, identity, purpose, frame }
    this.#noteUnknown(turn)
    // Counted as the request would be sent.
    if (isCount) return { ...passUntouched(request), purpose, ...chooseOutgoing(turn) }
    if (purpose === 'compaction') return this.#passCompaction(turn)
    try {
      await this.#within(RECORD_MS_MAX, session.record(placed))
      this.#options.onRecorded?.(identity)
    } catch (error) {
      // The next request contains the whole history again, and the known part stays valid.
      this.#warn(error, 'a request was not recorded; the next one will be')
    }
    if (purpose === 'compaction-item') return await this.#answerWithItem(turn)
    return await this.#pass(turn)
  }

  async #pass(turn: Turn): Promise<RecordedPassage> {
    const { session, request } = turn
    const state = this.#stateOf(session)
    const { windowTokens } = turn.frame
    const isTooLong = (bytes: number) => bytes * state.tokensPerByte > windowTokens * HARD_SHARE
    let out = chooseOutgoing(turn)
    if (
      isTooLong(sizeOf(out.send)) &&
      request.body.length * state.tokensPerByte > state.retryAbove
    ) {
      await this.#within(HANDOFF_MS_MAX, this.#prepare(turn, { isUrgent: true })).catch(() => {})
      out = chooseOutgoing(turn)
    }
    return this.#follow(turn, out)
  }

  /**
   * The client's own summary should see the whole history, and our handoff only if that does not
   * fit.
   */
  #passCompaction(turn: Turn): RecordedPassage {
    const { request, session } = turn
    const { tokensPerByte } = this.#stateOf(session)
    const fits = request.body.length * tokensPerByte < turn.frame.windowTokens * HARD_SHARE
    const { send, boundary } = chooseOutgoing(turn)
    const isRaw = fits && turn.placed.history.named === null
    const sent = isRaw ? { send: [request.body], boundary: 0 } : { send, boundary }
    const take = (reply: UpstreamReply) => this.#track(this.#countReply(turn, reply, sent))
    return countedPassage(turn.placed.history, { ...sent, purpose: turn.purpose }, take)
  }

  async #answerWithItem(turn: Turn): Promise<RecordedPassage | null> {
    const made = await this.#within(HANDOFF_MS_MAX, this.#prepare(turn, { isWhole: true }))
    if (made.kind === 'failed') return this.#passCompaction(turn)
    const { entry, token } = made
    const compaction = { session: turn.session.id, entry, ...(token !== undefined && { token }) }
    return { ...passUntouched(turn.request), purpose: turn.purpose, compaction }
  }

  #follow(turn: Turn, { send, boundary }: Outgoing): RecordedPassage {
    const { session, placed } = turn
    const reader = placed.history.wire.openReply()
    return {
      ...{ send, boundary, purpose: turn.purpose, compaction: null },
      take: (event) => reader.take(event),
      end: () => {
        const reply = reader.reply()
        return this.#track(
          session
            .recordReply(placed, reply)
            .catch((error: unknown) => this.#warn(error, 'an answer was not recorded'))
            .then(() => this.#afterReply(turn, reply, { send, boundary })),
        )
      },
    }
  }

  async #afterReply(turn: Turn, { usage, isWhole }: UpstreamReply, sent: Outgoing): Promise<void> {
    const { session, identity, placed } = turn
    const state = this.#stateOf(session)
    this.#title(turn, state)
    const tokens = await this.#countReply(turn, { usage, isWhole }, sent)
    if (tokens === 0) return
    await session.setFrame(turn.frame, clientFacts(identity)).catch(() => {})
    // A late answer to a request with an older handoff says nothing about this one.
    const end = locate(session.tree, placed)
    const newest = boundariesOf(end)[0]?.boundary.entry ?? 0
    // After an undo the messages themselves are sent as long as they fit.
    if (newest !== sent.boundary || isUndone(end)) return
    const soft = Math.max(turn.frame.windowTokens * SOFT_SHARE, state.retryAbove)
    if (tokens > soft) void this.#prepare(turn, { tokens })
  }

  /** The tokens of the request. 0: the answer failed, so nothing is known. */
  async #countReply(
    { session, identity, placed, request }: Turn,
    { usage, isWhole }: Pick<UpstreamReply, 'usage' | 'isWhole'>,
    sent: Outgoing,
  ): Promise<number> {
    const state = this.#stateOf(session)
    const bytes = sizeOf(sent.send)
    if (usage === null || usage.inputTokens === 0) {
      // Chat Completions reports a stream's usage only to clients that ask for it.
      return isWhole ? bytes * state.tokensPerByte : 0
    }
    state.tokensPerByte = usage.inputTokens / Math.max(1, bytes)
    await recordCall(this.#options, {
      ...{ sessionId: session.id, client: identity.client, usage, isWhole },
      ...{ model: requestedModel(placed.history), baseUrl: request.baseUrl },
    })
    return usage.inputTokens
  }

  /** One at a time for each session. */
  #prepare(turn: Turn, { isWhole, isUrgent, tokens = 0 }: PrepareOptions = {}): Promise<Prepared> {
    const { session, placed, wireName } = turn
    const state = this.#stateOf(session)
    if (state.preparing !== null && isWhole !== true && isUrgent !== true) return state.preparing
    const { store, clock, summarize } = this.#options
    const { tokensPerByte } = state
    const preparing = prepareBoundary(session, placed, {
      ...{ store, thread: this.#thread, windowTokens: turn.frame.windowTokens, wireName },
      ...{ tokensPerByte, now: () => clock.now() },
      // A request that does not fit without a handoff does not wait for a model to write one.
      ...(summarize !== undefined && isUrgent !== true && { summarize }),
      ...(isWhole === true && { isWhole }),
      ...(isUrgent === true && { isUrgent }),
    }).catch((error: unknown): Prepared => {
      this.#warn(error, 'a handoff could not be prepared')
      return { kind: 'failed', reason: 'error' }
    })
    const settled = preparing.then((made) => {
      if (state.preparing === settled) state.preparing = null
      state.retryAbove = made.kind === 'failed' ? tokens * RETRY_GROWTH : 0
      const { id } = session
      if (made.kind === 'failed') {
        this.#options.logger.warn({ session: id, reason: made.reason }, 'no handoff was made')
      } else this.#options.logger.info({ session: id, entry: made.entry }, 'handoff installed')
      return made
    })
    state.preparing = settled
    void this.#track(settled)
    return settled
  }

  /** Once for each model: its window is assumed. */
  #noteUnknown({ placed, frame }: Turn): void {
    const model = requestedModel(placed.history).slice(0, 100)
    const { windowTokens, logger } = this.#options
    if (windowTokens !== undefined || hasKnownWindow(model) || this.#unknownModels.has(model))
      return
    if (this.#unknownModels.size < UNKNOWN_MODELS_MAX) this.#unknownModels.add(model)
    const assumed = { model, windowTokens: frame.windowTokens }
    logger.warn(
      assumed,
      'the window of this model is not known, so this one is assumed; --window names it',
    )
  }

  #title({ session, placed, identity }: Turn, state: SessionState): void {
    const title = state.isTitled ? null : clientTitle(identity, placed.history)
    if (title === null) return
    state.isTitled = true
    const { store } = this.#options
    const named = store.findSession(session.id).then(async (row) => {
      if (row?.title === null) await store.setTitle({ sessionId: session.id, title })
    })
    void this.#track(named.catch(() => {}))
  }

  #stateOf(session: StoredSession): SessionState {
    const known = this.#states.get(session)
    if (known !== undefined) return known
    const fresh = {
      preparing: null,
      tokensPerByte: TOKENS_PER_BYTE,
      retryAbove: 0,
      isTitled: false,
    }
    this.#states.set(session, fresh)
    return fresh
  }

  async #within<Value>(ms: number, work: Promise<Value>): Promise<Value> {
    const late = new AbortController()
    const deadline = pause(this.#options.clock, ms, late.signal).then(() => {
      if (late.signal.aborted) return new Promise<never>(() => {})
      throw new NotRecordedError(`The store did not answer within ${ms} ms.`)
    })
    try {
      return await Promise.race([this.#track(work), deadline])
    } finally {
      late.abort()
    }
  }

  #track<Value>(work: Promise<Value>): Promise<Value> {
    const settled = work.catch(() => {}).finally(() => this.#running.delete(settled))
    this.#running.add(settled)
    return work
  }

  #warn(error: unknown, what: string): void {
    // Messages of other errors may quote the conversation.
    const isOwn = error instanceof KnownError || error instanceof NotRecordedError
    const reason = isOwn ? error.message : ''
    this.#options.logger.warn({ error: error instanceof Error ? error.name : '', reason }, what)
  }
}

interface Turn {
  readonly request: ClientRequest
  readonly session: StoredSession
  readonly placed: Placed
  readonly wireName: string
  readonly identity: Identity
  readonly purpose: Purpose
  readonly frame: RequestFrame
}

interface PrepareOptions {
  readonly isUrgent?: true
  readonly isWhole?: true
  readonly tokens?: number
}

interface Outgoing {
  readonly send: readonly Buffer[]
  readonly boundary: number
}

function chooseOutgoing({ session, placed, request, wireName }: Turn): Outgoing {
  const { wire, named } = placed.history
  const { depth: startDepth, undone } = placed.start
  // A client that has only the address of a handoff needs it, undone or not.
  const held = named === null || undone === null ? [] : [{ depth: startDepth, boundary: undone }]
  for (const { depth, boundary } of [...boundariesOf(locate(session.tree, placed)), ...held]) {
    const isOwn = boundary.wire === wireName
    const items = isOwn ? boundary.items : wire.writeHandoff(boundary.text, [])
    const send = withHandoff(placed, depth, items)
    if (send !== null) return { send, boundary: boundary.entry }
  }
  return { send: [request.body], boundary: 0 }
}

function sizeOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0)
}

function lastOf(history: History) {
  const index = history.body.items.length - 1
  if (index < 0) return { last: undefined, lastRead: undefined }
  const last = parseItem(history.body, index)
  return { last, lastRead: history.wire.read(last) }
}
