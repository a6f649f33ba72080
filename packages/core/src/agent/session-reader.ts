import { entryNumber, type SessionId } from '../base/ids.ts'
import type { Message } from '../message/message.ts'
import { plainText, textOf } from '../message/text.ts'
import { loadParts } from '../session/blobs.ts'
import { buildContext } from '../session/context/build.ts'
import { readRange } from '../session/context/source.ts'
import type { EventHub } from '../session/events/event-hub.ts'
import type { RuntimeEvent } from '../session/events/runtime-event.ts'
import { type CompactionReport, readCompactionReport } from '../session/view/compaction-report.ts'
import { entryView, type TranscriptEntry } from '../session/view/transcript.ts'
import type { Store } from '../store/contract.ts'
import type { EntryKind, SessionRow } from '../store/tables/rows.ts'
import type { FoundEntry, HistoryEntry, SessionEvent, SessionInfo } from './agent-types.ts'
import { type AnyFormat, internalsOf, type MessageOf } from './typed-formats/format.ts'

const PAGE = 200
const HISTORY_LIMIT = 50
const SEARCH_LIMIT = 20
/** Of the words in an event. */
const TEXT_MAX = 100_000
/** The entries that are messages, and who says them. */
const ROLES: { readonly [kind in EntryKind]?: 'user' | 'assistant' | 'tool' } = {
  input: 'user',
  assistant: 'assistant',
  result: 'tool',
}

interface ReaderParts<F extends AnyFormat> {
  readonly store: Store
  readonly hub: EventHub
  readonly format: F
  readonly closing: AbortSignal
}

/** A program's view of a session, in the agent's format. */
export class SessionReader<F extends AnyFormat> {
  readonly #parts: ReaderParts<F>
  readonly #id: SessionId

  constructor(parts: ReaderParts<F>, id: SessionId) {
    this.#parts = parts
    this.#id = id
  }

  async history({
    before,
    limit = HISTORY_LIMIT,
  }: {
    before?: number
    limit?: number
  } = {}): Promise<readonly HistoryEntry<F>[]> {
    const session = await this.#parts.store.findSession(this.#id)
    if (session === undefined) return []
    const found: TranscriptEntry[] = []
    let to = Math.min(session.tail, (before ?? Number.POSITIVE_INFINITY) - 1)
    while (to > 0 && found.length < limit) {
      const page = await this.#read(Math.max(0, to - PAGE), to, session.covers)
      found.unshift(...page.filter(({ kind }) => kind in ROLES))
      to -= PAGE
    }
    return await this.entries(found.slice(-limit))
  }

  async search(
    text: string,
    { limit = SEARCH_LIMIT }: { limit?: number } = {},
  ): Promise<readonly HistoryEntry<F>[]> {
    const session = await this.#parts.store.findSession(this.#id)
    if (session === undefined) return []
    const query = { sessionId: this.#id, text, limit, neighbours: 0 }
    const { hits } = await this.#parts.store.search(query)
    return await this.entries(hits.map(({ entry }) => entryView(entry, session.covers)))
  }

  async info(): Promise<SessionInfo | undefined> {
    const session = await this.#parts.store.findSession(this.#id)
    return session && (await infoOf(this.#parts.store, session))
  }

  async compactionReport({
    entry,
  }: {
    entry?: number
  } = {}): Promise<CompactionReport | undefined> {
    const { store } = this.#parts
    const session = await store.findSession(this.#id)
    if (session === undefined) return undefined
    const number = entry === undefined ? session.effective : entryNumber(entry)
    return await readCompactionReport(store, this.#id, number)
  }

  async *events({
    after,
    signal,
  }: {
    after?: number
    signal?: AbortSignal
  } = {}): AsyncGenerator<SessionEvent> {
    const { hub, closing } = this.#parts
    const ended = signal === undefined ? closing : AbortSignal.any([signal, closing])
    const query = { sessionId: this.#id, ...(after !== undefined && { after }) }
    for await (const event of hub.events(query, ended)) {
      const shown = eventOf(event)
      if (shown === undefined) continue
      yield 'from' in shown ? await this.#withText(shown) : shown
    }
  }

  async #withText({ from, to, ...event }: Said): Promise<SessionEvent> {
    const entries = await this.#read(from - 1, to, 0)
    const texts = entries.flatMap(({ message }) => {
      if (message === null) return []
      // Without its calls and thoughts.
      const isReply = message.role === 'assistant'
      return [isReply ? plainText(message.parts) : textOf(message)]
    })
    const text = texts.length === 0 ? null : texts.join('\n\n').slice(0, TEXT_MAX)
    return { ...event, entry: to, text }
  }

  /** The messages of a turn, up to the entry that ended it. */
  async turnMessages(turn: number, last: number): Promise<readonly MessageOf<F>[]> {
    let found: TranscriptEntry[] = []
    for (let to = last; to > 0; to -= PAGE) {
      const page = await this.#read(Math.max(0, to - PAGE), to, 0)
      const before = page.findLastIndex(
        ({ kind, meta }) => kind === 'turn' && 'turn' in meta && meta.turn < turn,
      )
      found = [...page.slice(before + 1), ...found]
      if (before >= 0) break
    }
    const made = found.filter(({ kind }) => kind === 'assistant' || kind === 'result')
    return await this.#write(made.flatMap(({ message }) => (message === null ? [] : [message])))
  }

  async #read(after: number, to: number, covers: number): Promise<readonly TranscriptEntry[]> {
    const entries = await readRange(this.#parts.store, this.#id, after, to)
    return entries.map((entry) => entryView(entry, covers))
  }

  async entries(entries: readonly TranscriptEntry[]): Promise<readonly HistoryEntry<F>[]> {
    const shown = entries.map(async ({ kind, number, at, message, isCovered }) => {
      const role = ROLES[kind]
      if (role === undefined) return []
      const messages = message === null ? null : await this.#write([message])
      return [{ number, at: new Date(at), role, messages, isCovered }]
    })
    return (await Promise.all(shown)).flat()
  }

  /** Unchanged: a piece of a conversation need not be a legal request. */
  async #write(stored: readonly Message[]): Promise<readonly MessageOf<F>[]> {
    const { codec } = internalsOf(this.#parts.format)
    const messages = await loadParts(this.#parts.store, this.#id, stored)
    return codec.format({ format: codec.name, messages, notes: [] }) as unknown as MessageOf<F>[]
  }
}

/** Over all open sessions of an agent, ranked together. */
export async function searchAgent<F extends AnyFormat>(
  parts: ReaderParts<F> & { readonly name: string },
  text: string,
  { limit = SEARCH_LIMIT }: { limit?: number } = {},
): Promise<readonly FoundEntry<F>[]> {
  const query = { sessionId: { agent: parts.name }, text, limit, neighbours: 0 }
  const { hits } = await parts.store.search(query)
  const found = hits.map(async ({ sessionId, entry, excerpt }) => {
    const { covers = 0 } = (await parts.store.findSession(sessionId)) ?? {}
    const shown = await new SessionReader(parts, sessionId).entries([entryView(entry, covers)])
    return shown.map((each) => ({ ...each, sessionId, excerpt }))
  })
  return (await Promise.all(found)).flat()
}

export async function infoOf(store: Store, session: SessionRow): Promise<SessionInfo> {
  const { id, agent, title, pending, turnState, origin, forkedAt } = session
  const isOpen = session.state === 'open'
  const source = isOpen ? await store.readContext({ sessionId: id }) : null
  return {
    forkedFrom: origin === null ? null : { id: origin, entry: forkedAt },
    ...{ id, agent, title: title === '' ? null : title, contextWindow: session.limits.hardTokens },
    state: !isOpen ? 'deleted' : turnState === 'running' ? 'working' : 'idle',
    contextTokens:
      source === null ? 0 : buildContext(source, source.limits, source.session.tail).tokens,
    waiting: isOpen ? pending.user + pending.notification : 0,
    createdAt: new Date(session.createdAt),
  }
}

/** A stored message, by its entries. */
interface Said {
  readonly type: 'message'
  readonly cursor: number
  readonly role: 'user' | 'assistant'
  readonly from: number
  readonly to: number
}

function eventOf(event: RuntimeEvent): SessionEvent | Said | undefined {
  if (event.type === 'caught-up') return { type: 'caught-up', cursor: event.cursor }
  if (event.type === 'live') {
    if (event.kind === 'delta') return { type: 'delta', attempt: event.attempt, text: event.text }
    if (event.kind === 'void') return { type: 'retract', attempt: event.attempt }
    return event.kind === 'notice'
      ? { type: 'notice', code: event.code, text: event.text }
      : undefined
  }
  const { cursor, kind, facts } = event
  switch (kind) {
    case 'message delivered':
      return {
        ...{ type: 'message', cursor, role: 'user' },
        ...{ from: Number(facts['from']), to: Number(facts['to']) },
      }
    case 'step committed':
      return {
        ...{ type: 'message', cursor, role: 'assistant' },
        ...{ from: Number(facts['entry']), to: Number(facts['entry']) },
      }
    case 'results committed':
      return { type: 'message', cursor, role: 'tool' }
    case 'turn ended': {
      const { ended } = facts
      const how = ended === 'failed' || ended === 'stopped' ? ended : 'answered'
      return { type: 'turn-ended', cursor, turn: Number(facts['turn']), how }
    }
    // A turn that another loop ran comes as one.
    case 'entries adopted': {
      const { turn } = facts
      return typeof turn === 'number'
        ? { type: 'turn-ended', cursor, turn, how: 'answered' }
        : undefined
    }
    case 'compaction committed':
      return { type: 'compacted', cursor }
    case 'compaction reverted':
      return { type: 'undone', cursor }
    case 'entries erased':
      return { type: 'erased', cursor }
    case 'session deleted':
      return { type: 'deleted', cursor }
    default:
      return undefined
  }
}
