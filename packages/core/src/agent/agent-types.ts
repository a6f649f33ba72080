// Programs with an older `lib` compile against these types, too.
/// <reference lib="esnext.disposable" preserve="true" />
import type { CompactionReport } from '../session/view/compaction-report.ts'
import type { Store } from '../store/contract.ts'
import type { Summarize } from './compact-messages.ts'
import type { AnyTool } from './tool.ts'
import type { AnyFormat, MessageOf, ReplyOf, RequestFor } from './typed-formats/format.ts'

export interface OpenAgentOptions<F extends AnyFormat> {
  /** An open store: of memory, SQLite or PostgreSQL. Closing it stays yours. */
  readonly store: Store
  /** The owner of the sessions. Every process that opens an agent of this name shares them. */
  readonly name: string
  /** The format of the library that `step` calls. */
  readonly format: F
  /** The model's context window, input and output together. */
  readonly contextWindow: number
  readonly maxOutputTokens?: number
  readonly system?: string
  readonly tools?: Readonly<Record<string, AnyTool>>
  /**
   * Asks the model once and returns the library's response. A throw fails the attempt, never the
   * process or the session.
   */
  step(step: AgentStep<NoInfer<F>>): ReplyOf<NoInfer<F>> | Promise<ReplyOf<NoInfer<F>>>
  /** Writes the summaries of compactions. Without it they are digests, which need no model. */
  readonly summarize?: Summarize
  /** Steps at the same time in this process, over all sessions. 16 if not given. */
  readonly concurrency?: number
  /** How long a step may take. 10 minutes if not given. */
  readonly stepTimeoutMs?: number
  /** The time limit of a tool without its own. Default: 10 minutes. */
  readonly toolTimeoutMs?: number
  readonly retry?: RetryOptions
  /**
   * Hears of each failed attempt and each failed tool, for logs. What it throws itself joins the
   * reason of the failure.
   */
  onError?(error: unknown, where: ErrorContext): void
}

export interface RetryOptions {
  /** Attempts at one step before the turn fails. 5 if not given. */
  readonly attempts?: number
  /** The delay before the second attempt; it doubles after that. 1 second if not given. */
  readonly delayMs?: number
  /** Whether to try again. If not given: network errors, 408, 409, 429 and 5xx. */
  isRetryable?(error: unknown): boolean
}

export interface ErrorContext {
  readonly sessionId: string
  readonly turn: number
  readonly attempt: number
  /** The tool that failed; absent for a step. */
  readonly tool?: string
}

export interface AgentStep<F extends AnyFormat> {
  readonly sessionId: string
  readonly turn: number
  /** 1 for the first attempt at this step. */
  readonly attempt: number
  /** Spread it into the library's call. It contains the messages, the system text and the tools. */
  readonly request: RequestFor<F>
  /** Aborted when the turn is stopped, the time is over, or another process took the session. */
  readonly signal: AbortSignal
  /** Shows text before it is durable to those who listen to `events`. A failed attempt is retracted. */
  delta(text: string): void
}

export interface DurableAgent<F extends AnyFormat> extends AsyncDisposable {
  readonly name: string
  /** A handle. It reads nothing; the first message creates the session. */
  session(id: string): AgentSession<F>
  /** Its sessions, ordered by id, deleted ones included. `after` is the last id that you have. */
  sessions(query?: {
    readonly after?: string
    readonly limit?: number
  }): Promise<readonly SessionInfo[]>
  /** Finds entries in all its sessions, also compacted ones, the best first. */
  search(text: string, query?: { readonly limit?: number }): Promise<readonly FoundEntry<F>[]>
  /** Ends running steps, gives every session back and leaves the store open. */
  close(): Promise<void>
}

export interface AgentSession<F extends AnyFormat> {
  readonly id: string
  /**
   * `send`, then `answer`. Aborting the signal ends the waiting and rejects; the turn continues.
   */
  ask(message: string | MessageOf<F>, options?: AskOptions): Promise<AgentAnswer<F>>
  /** Durable when it resolves. The same key is the same message, however often it comes. */
  send(message: string | MessageOf<F>, options?: { readonly key?: string }): Promise<SentMessage>
  /** The answer to a message that was sent, also by another process, also long ago. */
  answer(
    to: { readonly mail: number },
    options?: { readonly signal?: AbortSignal },
  ): Promise<AgentAnswer<F>>
  /**
   * Adds a turn that another loop ran, in one commit: what was asked, and what the model and the tools
   * made of it. The same key is the same turn.
   */
  record(turn: TurnRecord<F>): Promise<RecordedTurn>
  /** Oldest first, with what compactions cover. */
  history(query?: {
    readonly before?: number
    readonly limit?: number
  }): Promise<readonly HistoryEntry<F>[]>
  /** The messages that the model would receive now. */
  context(): Promise<RequestFor<F>>
  /** Ends the running turn. */
  stop(options?: AskOptions): Promise<ControlResult>
  /** Compacts now. */
  compact(options?: AskOptions & { readonly focus?: string }): Promise<ControlResult>
  /** Takes the newest compaction back. */
  undo(options?: AskOptions): Promise<ControlResult>
  /**
   * What a compaction did with every message: the one in effect, or the one that made this entry.
   * Undefined: there is none.
   */
  compactionReport(query?: { readonly entry?: number }): Promise<CompactionReport | undefined>
  /** Keeps a text in every context; null removes it. */
  pin(name: string, text: string | null, options?: AskOptions): Promise<ControlResult>
  /** A new session that begins with this one's entries, up to `at`. This one is not changed. */
  fork(options?: ForkOptions): Promise<ForkResult<F>>
  /** Removes bodies for good: of these entries, or of the whole session. */
  erase(what: {
    readonly entries: readonly number[] | 'all'
    readonly reason: string
    /** Forks that read a session which goes: `keep` what they read, or `purge` them too. */
    readonly forks?: 'refuse' | 'keep' | 'purge'
  }): Promise<ControlResult>
  search(text: string, query?: { readonly limit?: number }): Promise<readonly HistoryEntry<F>[]>
  info(): Promise<SessionInfo | undefined>
  /** After a cursor (default: from now on): first stored events, then live ones. */
  events(query?: {
    readonly after?: number
    readonly signal?: AbortSignal
  }): AsyncIterable<SessionEvent>
}

export interface AskOptions {
  readonly key?: string
  readonly signal?: AbortSignal
}

export interface TurnRecord<F extends AnyFormat> {
  readonly key: string
  readonly input: string | MessageOf<F>
  /** The library's response, or all messages of the turn: assistant, tool, assistant … */
  readonly made: ReplyOf<F> | readonly MessageOf<F>[]
}

export type RecordedTurn =
  | { readonly kind: 'recorded'; readonly turn: number; readonly isDuplicate: boolean }
  /** A turn of the agent itself runs in this session. Record it when that one has ended. */
  | { readonly kind: 'refused'; readonly why: 'turn-running' }
  | RefusedMessage

export interface ForkOptions {
  /** The number of the last entry to begin with, as in `history`. The newest if not given. */
  readonly at?: number
  /** The id of the new session. Chosen at random if not given. */
  readonly id?: string
  /** The same key is the same fork, however often it is asked for. */
  readonly key?: string
}

export type ForkResult<F extends AnyFormat> =
  | {
      readonly kind: 'forked'
      readonly id: string
      readonly session: AgentSession<F>
      readonly isDuplicate: boolean
    }
  | RefusedFork

export type RefusedFork =
  | { readonly kind: 'refused'; readonly why: 'key-reused' | 'id-taken' | 'session-deleted' }
  /** `entries`: how many there are. */
  | { readonly kind: 'refused'; readonly why: 'unknown-entry'; readonly entries: number }

export type SentMessage =
  | { readonly kind: 'sent'; readonly mail: number; readonly isDuplicate: boolean }
  | RefusedMessage

export type RefusedMessage =
  /** The key was used before, for other words or for another session. */
  | { readonly kind: 'refused'; readonly why: 'key-reused' }
  | { readonly kind: 'refused'; readonly why: 'mailbox-full' | 'too-large'; readonly limit: number }
  | { readonly kind: 'refused'; readonly why: 'session-deleted' | 'belongs-to-another-agent' }

export type AgentAnswer<F extends AnyFormat> =
  | ({ readonly kind: 'answered' } & TurnOutcome<F>)
  /** `stop` was called; `text` is the answer up to then. */
  | ({ readonly kind: 'stopped' } & TurnOutcome<F>)
  /** The last attempt failed: `reason` is the message of its error. */
  | ({ readonly kind: 'failed'; readonly reason: string } & TurnOutcome<F>)
  /** The message was withdrawn, or its session deleted. */
  | { readonly kind: 'withdrawn' }
  | RefusedMessage

export interface TurnOutcome<F extends AnyFormat> {
  readonly text: string
  /** The messages that the turn added: assistant, tool, assistant … */
  readonly messages: readonly MessageOf<F>[]
  readonly turn: number
  readonly mail: number
  /** This key was used before; the answer is the earlier one. */
  readonly isDuplicate: boolean
}

export interface HistoryEntry<F extends AnyFormat> {
  readonly number: number
  readonly at: Date
  readonly role: 'user' | 'assistant' | 'tool'
  /** Null once erased. One entry may be several messages of a format. */
  readonly messages: readonly MessageOf<F>[] | null
  /** A compaction covers it: the model no longer sees it word for word. */
  readonly isCovered: boolean
}

/** An entry that a search over all sessions found. */
export interface FoundEntry<F extends AnyFormat> extends HistoryEntry<F> {
  readonly sessionId: string
  /** The part of its text that matches best. */
  readonly excerpt: string
}

export type ControlResult =
  | { readonly kind: 'done' }
  | { readonly kind: 'nothing-to-do'; readonly why: string }
  /** Nothing was erased: these sessions are forks that read it. */
  | { readonly kind: 'refused'; readonly why: 'forked'; readonly forks: readonly string[] }
  | RefusedMessage

export interface SessionInfo {
  readonly id: string
  readonly agent: string
  readonly title: string | null
  /** Where it was forked from; null: it is no fork. */
  readonly forkedFrom: { readonly id: string; readonly entry: number } | null
  readonly state: 'idle' | 'working' | 'deleted'
  readonly contextTokens: number
  readonly contextWindow: number
  /** Messages that no turn has taken yet. */
  readonly waiting: number
  readonly createdAt: Date
}

/** With a cursor: durable, once and in order. Without: provisional, and lost with the process. */
export type SessionEvent =
  | { readonly type: 'delta'; readonly attempt: string; readonly text: string }
  /** The deltas of that attempt are void. */
  | { readonly type: 'retract'; readonly attempt: string }
  | { readonly type: 'notice'; readonly code: string; readonly text: string }
  | {
      readonly type: 'message'
      readonly cursor: number
      readonly role: 'user' | 'assistant'
      /** Its number in the history; of messages that were delivered together, that of the last. */
      readonly entry: number
      /**
       * The text of the message, at most its first 100,000 characters; several messages with an empty line
       * between them. Null once it is erased. `history` has whole messages.
       */
      readonly text: string | null
    }
  | { readonly type: 'message'; readonly cursor: number; readonly role: 'tool' }
  | {
      readonly type: 'turn-ended'
      readonly cursor: number
      readonly turn: number
      readonly how: 'answered' | 'stopped' | 'failed'
    }
  | { readonly type: 'compacted' | 'undone' | 'erased' | 'deleted'; readonly cursor: number }
  /** Everything stored so far has come; the rest is new. */
  | { readonly type: 'caught-up'; readonly cursor: number }
