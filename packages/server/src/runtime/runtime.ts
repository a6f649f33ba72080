import type { EntryNumber, MailNumber, SessionId } from '#core/base/ids'
import type { JsonObject } from '#core/base/json'
import type { Message, UserPart } from '#core/message/message'
import type { EventQuery, RuntimeEvent } from '#core/session/events/runtime-event'
import type { Preview } from '#core/session/preview'
import type { Edge } from '#core/session/sender'
import type { CompactionReport } from '#core/session/view/compaction-report'
import type { ControlEnd } from '#core/session/view/control-outcome'
import type { Reply, TranscriptEntry } from '#core/session/view/transcript'
import type { SearchFilters } from '#core/store/queries'
import type { Highlight } from '#core/store/search/highlights/highlights'
import type { BusyPolicy, Lane, MailState, TurnEnd } from '#core/store/tables/rows'
import type { Activity } from './activity.ts'
import type { HandoffUndo } from './client-sessions/undo-handoff.ts'
import type { CompactionView } from './compaction-view.ts'
import type { Health, RouteHealth } from './health.ts'
import type { PinView, SessionMemory, TaskList } from './memory-view.ts'
import type { SearchedSessions } from './searched-sessions.ts'
import type { ModelUsage, UsageGroup, UsageQuery } from './usage.ts'

/**
 * The interface for every gateway: HTTP, the terminal, chat platforms, your own program. A runtime
 * is one process's share of the work: it admits messages, runs the sessions it holds a lease on,
 * sends replies through its edges and publishes events. Several runtimes may share one store.
 *
 * Outcomes that a careful caller expects are values with a `kind`; operating errors are thrown
 * (KnownError).
 */
export interface Runtime {
  readonly agents: readonly AgentSummary[]

  createSession(request: NewSession): Promise<Created>
  /** `/new`: points the route to a new session; the old one keeps its mail and still answers it. */
  startAfresh(request: RouteAddress & Idempotent): Promise<StartedAfresh>
  /** Sends to a route. The first message of a route creates its session. */
  admit(request: RouteAddress & NewMessage): Promise<Admission>
  /** The session that a route points to. */
  findRoute(address: RouteAddress): Promise<SessionId | undefined>

  /** Creating a handle reads nothing; each of its methods reports a missing session. */
  session(id: SessionId): Session
  listSessions(query: SessionQuery): Promise<readonly SessionSummary[]>
  /** Searches all sessions, or those of an agent or a person, with one ranking. */
  search(query: SearchRequest & SearchedSessions): Promise<FoundEntries>

  /** Events after a cursor (default: from now on): first the stored ones, then live ones. */
  events(query: EventQuery, signal: AbortSignal): AsyncIterable<RuntimeEvent>
  /** Makes this process send the replies of that edge. */
  attach(edge: Edge): void
  /** Usage of model calls, newest group first. */
  usage(query: UsageQuery): Promise<readonly UsageGroup[]>
  activity(): Promise<Activity>
  health(): Promise<Health>
  /**
   * Shuts down in order: starts no new turns, finishes or hands over running ones, then closes
   * everything.
   */
  close(): Promise<void>
}

export type { CompactionView, Edge, Health, PinView, Reply, RouteHealth, TaskList, TranscriptEntry }

export interface SessionSnapshot {
  readonly sessionId: SessionId
  readonly compaction: EntryNumber
  readonly entries: EntryNumber
  transcript(query: { from: number; to: number }): Promise<readonly TranscriptEntry[]>
  context(): Promise<ContextView | undefined>
}

export interface Session {
  readonly id: SessionId
  summary(): Promise<SessionSummary | undefined>
  admit(message: NewMessage): Promise<Admission>
  /** Ends the running turn, if there is one; a compaction continues. */
  stop(request: Idempotent): Promise<Admission>
  compact(request: Idempotent & { focus?: string }): Promise<Admission>
  /** Previews a compaction; changes nothing. */
  preview(request: { focus?: string }, signal: AbortSignal): Promise<Preview>
  /** Commits exactly this preview, unless the session has changed since. */
  install(request: Idempotent & { preview: JsonObject }): Promise<Admission>
  /** Undoes the newest compaction in effect; with `compaction` only if it is that entry. */
  revert(request: Idempotent & { compaction?: EntryNumber }): Promise<Admission>
  /** The same for the session of a proxy's client, done at once. Null: it is not one; use `revert`. */
  undoForClient(compaction: EntryNumber): Promise<HandoffUndo | null>
  /** `text` null removes the pin. */
  pin(request: Idempotent & { name: string; text: string | null }): Promise<Admission>
  setPolicy(request: Idempotent & { policy: BusyPolicy }): Promise<Admission>
  /** Tries a waiting turn again now. `pastLimit`: it may spend the amount of its limit once more. */
  continue(request: Idempotent & { pastLimit: boolean }): Promise<Admission>

  /**
   * Waits for the outcome of a control item (as admitted by `stop` to `setPolicy`). Null: it was
   * withdrawn, there is no such item, or the signal aborted first.
   */
  controlOutcome(mail: MailNumber, signal: AbortSignal): Promise<ControlEnd | null>
  /** Throws UnknownSessionError, as `search` does. */
  mailbox(query: { state?: MailState; after?: number; limit: number }): Promise<readonly Mail[]>
  withdraw(mail: MailNumber): Promise<Withdrawal>

  /** Entries in this range, both ends included; an erased entry has `message` null. */
  transcript(query: { from: number; to: number }): Promise<readonly TranscriptEntry[] | undefined>
  /** The context that the model sees now, or saw when it wrote the answer in entry `at`. */
  context(query: { at?: EntryNumber }): Promise<ContextView | undefined>
  compactions(query: { limit: number }): Promise<readonly CompactionView[] | undefined>
  /** What this compaction did with every message; undefined: no such session, or no compaction there. */
  compactionReport(compaction: EntryNumber): Promise<CompactionReport | undefined>
  /** The session just before this compaction; undefined: no such session, or no compaction there. */
  snapshot(compaction: EntryNumber): Promise<SessionSnapshot | undefined>
  /** The agent's task list, as a compaction would keep it. */
  tasks(): Promise<TaskList | undefined>
  usage(query: UsageQuery): Promise<readonly UsageGroup[]>
  pins(): Promise<readonly PinView[] | undefined>
  /** Everything that the agent remembers for the people of this session. */
  readonly memory: SessionMemory
  /** An image or a file that a message refers to as `blob:HASH`. */
  blob(hash: string): Promise<BlobView | undefined>
  search(query: SearchRequest & { neighbours: number }): Promise<FoundEntries>
  /** Waits for the reply of the turn that took this mail. Null: the turn ended without one. */
  reply(mail: MailNumber, signal: AbortSignal): Promise<Reply | null>
  /**
   * Admits a message and waits for its reply, with fewer reads than `admit` and `reply`. Null: the
   * message was refused, the turn ended without a reply, or the signal aborted.
   */
  ask(
    message: NewMessage,
    signal: AbortSignal,
  ): Promise<{ readonly admission: Admission; readonly reply: Reply | null }>
  events(query: { after?: number }, signal: AbortSignal): AsyncIterable<RuntimeEvent>

  /** Sets the title; null or blank removes it. */
  rename(title: string | null): Promise<Renamed>
  /** JSON lines that `import` accepts. */
  exportLines(): AsyncIterable<string>
  /** Removes the bodies for good: of these entries, or of the whole session. */
  purge(request: PurgeRequest): Promise<Purged>
  /** Creates a new session that begins with entries 1..at of this one and continues on its own. */
  fork(request: ForkRequest): Promise<Forked>
}

export interface AgentSummary {
  readonly name: string
  readonly model: string
  readonly provider: string
  readonly windowTokens: number
  readonly tools: readonly string[]
  readonly policy: BusyPolicy
}

export interface NewSession {
  readonly agent: string
  /** Chosen here when absent. */
  readonly id?: string
  readonly route?: { readonly channel: string; readonly address: string }
}
export type Created =
  | { readonly kind: 'created'; readonly sessionId: SessionId }
  | { readonly kind: 'exists'; readonly sessionId: SessionId }
  | { readonly kind: 'route-taken'; readonly sessionId: SessionId }
  | { readonly kind: 'unknown-agent'; readonly agents: readonly string[] }

export interface RouteAddress {
  readonly agent: string
  /** Which edge and account, such as `telegram:mybot`. */
  readonly channel: string
  /** The address within it: a chat, a topic, a thread. */
  readonly address: string
}

/** The idempotency key: the same source and key are the same request. */
export interface Idempotent {
  /** The edge's account or the sending agent. */
  readonly source: string
  readonly key: string
}

export interface NewMessage extends Idempotent {
  readonly parts: readonly UserPart[]
  /** Default: `user`. */
  readonly lane?: Exclude<Lane, 'control'>
  /** Where to send the answer; without it, the answer is only in the transcript. */
  readonly replyTo?: { readonly edge: string; readonly address: string }
}

export type StartedAfresh =
  | { readonly kind: 'started' | 'duplicate'; readonly sessionId: SessionId }
  | { readonly kind: 'unknown-agent'; readonly agents: readonly string[] }

export type Admission =
  | {
      readonly kind: 'admitted' | 'duplicate'
      readonly sessionId: SessionId
      readonly mail: MailNumber
    }
  /** The key was used with another body; `mail` is that of the first one. */
  | { readonly kind: 'conflict'; readonly sessionId: SessionId; readonly mail: MailNumber }
  /** The mailbox is full; nothing was admitted. */
  | { readonly kind: 'full'; readonly limit: number }
  | { readonly kind: 'too-large'; readonly bytes: number; readonly limit: number }
  | { readonly kind: 'unknown-agent'; readonly agents: readonly string[] }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'gone' }

export type Withdrawal =
  | { readonly kind: 'withdrawn' }
  | { readonly kind: 'not-pending'; readonly state: MailState }
  | { readonly kind: 'unknown' }

export interface PurgeRequest {
  readonly entries: readonly number[] | 'all'
  readonly reason: string
  /** What to do if forks still read a session that is purged as a whole; default: `refuse`. */
  readonly forks?: 'refuse' | 'keep' | 'purge'
}
export type Purged =
  | {
      readonly kind: 'purged'
      readonly entries: number
      /** The session itself, and the forks purged with it. */
      readonly sessions: readonly SessionId[]
      /** Bodies up to this entry stay, for forks that read them; 0: none stay. */
      readonly retained: number
    }
  /** The holder of the session will erase them soon; the event `entries erased` reports when. */
  | {
      readonly kind: 'asked'
      readonly entries: number
      /** For a fork, some requests may go to the sessions that it reads from. */
      readonly asked: readonly { readonly sessionId: SessionId; readonly mail: MailNumber }[]
    }
  /** Nothing was removed, because these forks read it. */
  | { readonly kind: 'forked'; readonly forks: readonly SessionId[] }
  | { readonly kind: 'unknown' }

export type Renamed =
  | { readonly kind: 'done' | 'unknown' | 'gone' | 'superseded' }
  | { readonly kind: 'too-long'; readonly limit: number }

export interface ForkRequest extends Idempotent {
  readonly at: number
  /** Chosen here when absent. */
  readonly id?: string
}
export type Forked =
  | { readonly kind: 'forked' | 'duplicate'; readonly sessionId: SessionId }
  | { readonly kind: 'exists'; readonly sessionId: SessionId }
  /** The same key with another session or entry. */
  | { readonly kind: 'conflict' }
  | { readonly kind: 'unknown-entry'; readonly entries: number }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'gone' }

export interface SessionQuery {
  readonly agent?: string
  /** Continues after this session, in the same order. */
  readonly after?: SessionId
  readonly limit: number
  /** Newest first by last entry or by creation; default: ordered by id. */
  readonly sort?: SessionSort
  /** Without purged ones; default: with them. */
  readonly state?: 'open'
}

export type SessionSort = 'active' | 'created' | 'id'

export interface SessionSummary {
  readonly id: SessionId
  readonly agent: string
  readonly title: string | null
  /** Where it was forked from; null: it is no fork. */
  readonly forkedFrom: { readonly sessionId: SessionId; readonly entry: number } | null
  readonly state:
    | 'idle'
    | 'turn'
    | 'waiting-for-compaction'
    | 'waiting-for-model'
    | 'waiting-for-approval'
    | 'gone'
  /**
   * Why its turn waits and when the next attempt is, if this process knows; null: it does not wait.
   */
  readonly wait: { readonly text: string; readonly nextTryAt: number | null } | null
  /** A handoff is being prepared in the background. */
  readonly isCompacting: boolean
  /** The channels of its routes, such as `telegram:mybot`; empty: reachable by its id only. */
  readonly channels: readonly string[]
  readonly createdAt: number
  /** When its newest entry was written. */
  readonly activeAt: number
  readonly entries: number
  readonly turn: number
  /** How its newest finished turn ended; null: none has, or a compaction covers it. */
  readonly lastTurn: TurnEnd | null
  /** Messages in the mailbox that no turn has taken yet. */
  readonly waiting: number
  readonly contextTokens: number
  readonly windowTokens: number
  /** The newest compaction in effect; null: none. */
  readonly compaction: EntryNumber | null
  readonly compactedAt: number | null
  /**
   * `leave` has written its handoff into the client's own log, and nothing was recorded since: the
   * client goes on from there, and `contextTokens` is what its next request has.
   */
  readonly left: { readonly at: number } | null
  readonly policy: BusyPolicy
  readonly pins: readonly string[]
  /** The process that holds it now; null: none. */
  readonly runner: string | null
  /** Usage of its model calls so far. */
  readonly usage: ModelUsage
}

export interface Mail {
  readonly number: MailNumber
  /** Who sent it under which key; null once erased. */
  readonly source: string | null
  readonly key: string | null
  readonly lane: Lane
  readonly control: string | null
  readonly state: MailState
  readonly at: number
  readonly text: string
}

export interface ContextView {
  readonly sessionId: SessionId
  readonly upto: EntryNumber
  readonly tokens: number
  readonly windowTokens: number
  readonly hardTokens: number
  /** The size at which a compaction is prepared; null for a past context. */
  readonly softTokens: number | null
  /**
   * Null, or for the present context of a client's session: what the provider counted in the client's
   * last request. The proxy compares this with `softTokens`; `tokens` is an estimate.
   */
  readonly countedTokens: number | null
  readonly parts: readonly ContextPart[]
  readonly messages: readonly Message[]
}
export interface ContextPart {
  readonly kind:
    | 'system'
    | 'tool'
    | 'pin'
    | 'preserved'
    | 'tasks'
    | 'files'
    | 'ledger'
    | 'summary'
    | 'tail'
    | 'incoming'
  readonly tokens: number
  readonly text: string
  /** Who speaks in it; null: it is not part of the conversation. */
  readonly role: 'user' | 'assistant' | 'tool' | 'client-summary' | null
  /** The entries it comes from. */
  readonly origin: { readonly from: number; readonly to: number }
}

export interface BlobView {
  readonly mediaType: string
  /** Base64. */
  readonly data: string
}

export interface SearchRequest extends SearchFilters {
  readonly text: string
  readonly limit: number
}

/** What a search found, the best first. */
export interface FoundEntries {
  readonly found: readonly Found[]
  /** All that match, whether listed or not; in many sessions, at least so many. */
  readonly total: number
  /** Why less was searched than usual, for the reader. */
  readonly note?: string
}

export interface Found {
  readonly sessionId: SessionId
  /** The best matching part of its text. */
  readonly excerpt: string
  /** Where the words of the question stand in the excerpt. */
  readonly highlights: readonly Highlight[]
  readonly entry: TranscriptEntry
  readonly before: readonly TranscriptEntry[]
  readonly after: readonly TranscriptEntry[]
}
