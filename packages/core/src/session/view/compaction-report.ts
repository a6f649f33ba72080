import { type EntryNumber, entryNumber, type SessionId } from '../../base/ids.ts'
import { clip, oneLine } from '../../base/line.ts'
import { type CacheEffect, cacheEffect } from '../../compaction/report/break-even.ts'
import { repetitionsIn } from '../../compaction/report/repeats.ts'
import type { Handoff } from '../../message/handoff/handoff.ts'
import type { Message } from '../../message/message.ts'
import { textOf } from '../../message/text.ts'
import { LIST_MAX } from '../../store/bounds.ts'
import type { Reads } from '../../store/contract.ts'
import { compactionMetaOf } from '../../store/fold.ts'
import { searchedText } from '../../store/search/words.ts'
import type { AttemptRow, CompactionBy, Entry, OperationRow } from '../../store/tables/rows.ts'
import { buildContext, type Context } from '../context/build.ts'
import { readRange } from '../context/source.ts'
import { adoptedOperation, isImported } from './adopted-compaction.ts'
import { entryView } from './transcript.ts'

/**
 * What a compaction did with every message that the model had seen word for word until then.
 * Computed on request from stored data, so that a compaction itself spends no time on it.
 */
export interface CompactionReport {
  readonly sessionId: SessionId
  /** The entry that the compaction made. */
  readonly entry: EntryNumber
  readonly by: CompactionBy
  readonly trigger: string | null
  readonly covers: EntryNumber
  readonly tokensBefore: number
  readonly tokensAfter: number
  readonly cache: CacheEffect
  /** The cost of its model calls; null if they are no longer on record. */
  readonly spend: CompactionSpend | null
  readonly counts: Readonly<Record<Fate, FateCount>>
  /** Messages that were erased since; they are in none of the classes. */
  readonly erased: number
  /** Oldest first. */
  readonly messages: readonly ReportedMessage[]
}

/**
 * `kept`: in the context word for word. `summarized`: the handoff repeats some of it. `recallable`:
 * not in the context, but recall finds it. `gone`: in neither; always empty, since the transcript
 * keeps every message.
 */
export const FATES = ['kept', 'summarized', 'recallable', 'gone'] as const
export type Fate = (typeof FATES)[number]

export interface FateCount {
  readonly messages: number
  /** As counted when they were stored. */
  readonly tokens: number
}

export interface ReportedMessage {
  readonly number: EntryNumber
  readonly role: 'user' | 'assistant' | 'tool'
  readonly tokens: number
  readonly fate: Fate
  /** How recall finds it: by its words, or only by its number if it has no words to search for. */
  readonly recalledBy: 'words' | 'number' | null
  /** The start of its text. */
  readonly excerpt: string
}

export interface CompactionSpend {
  readonly calls: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** Millionths of the operator's currency; null if the price of a call is not known. */
  readonly cost: number | null
}

type ReportReads = Pick<
  Reads,
  'readEntries' | 'readContext' | 'search' | 'findOperation' | 'readAttempts'
>

/** Undefined if there is no such session, or no compaction at this entry. */
export async function readCompactionReport(
  store: ReportReads,
  sessionId: SessionId,
  number: EntryNumber,
): Promise<CompactionReport | undefined> {
  const made = number < 1 ? undefined : await readOne(store, sessionId, number)
  if (made?.kind !== 'compaction') return undefined
  const first = await firstOver(store, sessionId, made)
  const [before, after] = await Promise.all([
    readAt(store, sessionId, first - 1),
    readAt(store, sessionId, number),
  ])
  const { handoff } = after.context
  // The handoff's text was erased, so there is nothing to compare with.
  const summary = handoff?.message.role === 'handoff' ? handoff.message.handoff : null
  const known = new Set(before.entries.map((entry) => entry.number))
  const later = after.entries.filter((entry) => !known.has(entry.number))
  const entries = [...before.entries, ...later].filter(isMessage)
  const live = entries.filter(({ body }) => body !== null)

  const fateOf = sortedBy(after.context, summary)
  const messages: ReportedMessage[] = []
  for (const entry of live) {
    const fate = fateOf(entry)
    const found = fate === null ? await recall(store, sessionId, entry) : null
    messages.push(reported(entry, fate ?? (found === null ? 'gone' : 'recallable'), found))
  }
  const operation = (await store.findOperation(made.operation)) ?? adoptedOperation(sessionId, made)
  const attempts = await readAttempts(store, sessionId, operation)
  return {
    sessionId,
    entry: number,
    by: made.meta.by,
    trigger: isImported(operation) ? null : operation.trigger,
    covers: entryNumber(made.meta.covers),
    tokensBefore: before.context.tokens,
    tokensAfter: after.context.tokens,
    cache: cacheEffect({
      tokensBefore: before.context.tokens,
      tokensAfter: after.context.tokens,
      sharedTokens: sharedTokens(before.context, after.context),
      spent: sumOf(attempts ?? []),
      callsPerTurn: callsPerTurn(live),
    }),
    spend: attempts === null ? null : spendOf(attempts),
    counts: countFates(messages),
    erased: entries.length - live.length,
    messages,
  }
}

type MessageEntry = Entry & { readonly kind: 'input' | 'assistant' | 'result' }

function isMessage(entry: Entry): entry is MessageEntry {
  return entry.kind === 'input' || entry.kind === 'assistant' || entry.kind === 'result'
}

async function readOne(store: ReportReads, sessionId: SessionId, number: number) {
  const [entry] = await readRange(store, sessionId, number - 1, number)
  return entry
}

/** A rewrite covers the same messages as the digest that it replaced; a clearing only its own. */
async function firstOver(
  store: ReportReads,
  sessionId: SessionId,
  { number, meta }: Entry & { kind: 'compaction' },
): Promise<EntryNumber> {
  const below = meta.previous === 0 ? undefined : await readOne(store, sessionId, meta.previous)
  const isSame =
    meta.by !== 'clearing' &&
    below?.kind === 'compaction' &&
    below.meta.by !== 'clearing' &&
    below.meta.covers === meta.covers
  return isSame ? await firstOver(store, sessionId, below) : number
}

async function readAt(store: ReportReads, sessionId: SessionId, upto: number) {
  const source = await store.readContext({ sessionId, upto: entryNumber(upto) })
  if (source === null) throw new Error(`Session ${sessionId} has a compaction and no context.`)
  const { covers, entries } = source
  const inEffect = entries.find((entry) => entry.number === source.effective)
  const carried = new Set((inEffect && compactionMetaOf(inEffect)?.carries) ?? [])
  return {
    context: buildContext(source, source.limits, entryNumber(upto)),
    entries: entries.filter(({ number: each }) => each > covers || carried.has(each)),
  }
}

/** How much of a message is in the context: all, a part, or (null) nothing. */
function sortedBy(after: Context, handoff: Handoff | null) {
  const shown = new Map<string, string>()
  for (const { number, message } of after.pieces) {
    if (message.role !== 'tool') shown.set(`${message.role} ${number}`, contentOf(message))
    else {
      for (const part of message.parts) {
        shown.set(`tool ${part.callId}`, contentOf({ role: 'tool', parts: [part] }))
      }
    }
  }
  const preserved = new Set(handoff?.preserved.map(({ message }) => contentOf(message)))
  const isRepeated = handoff === null ? () => false : repetitionsIn(handoff)
  return (entry: MessageEntry): 'kept' | 'summarized' | null => {
    const { message } = entryView(entry, 0)
    if (message === null) return null
    const key =
      entry.kind === 'result' ? `tool ${entry.meta.call}` : `${message.role} ${entry.number}`
    const content = contentOf(message)
    if (shown.get(key) === content || preserved.has(content)) return 'kept'
    // Its two ends are shown, or the handoff repeats some of it.
    return shown.has(key) || isRepeated(textOf(message)) ? 'summarized' : null
  }
}

/** Messages are the same if their parts are; a result's flags beside its output are not content. */
function contentOf(message: Message): string {
  if (message.role === 'handoff') return ''
  if (message.role !== 'tool') return JSON.stringify(message.parts)
  return JSON.stringify(message.parts.map(({ output }) => output))
}

const QUERY_CHARACTERS_MAX = 160
const HITS_MAX = 20

/** Searches the index for the words of the message; if it has none, reads it by number. */
async function recall(
  store: ReportReads,
  sessionId: SessionId,
  entry: MessageEntry,
): Promise<'words' | 'number' | null> {
  const text = longestLine(searchedText(entry))
  if (/[\p{L}\p{N}]/u.test(text)) {
    for (const exact of [true, false]) {
      const query = { sessionId, text, exact, limit: HITS_MAX, neighbours: 0 }
      const { hits } = await store.search(query)
      // Of several messages with the same words, finding any one is enough.
      const isFound = hits.some(
        (hit) => hit.entry.number === entry.number || hit.entry.body === entry.body,
      )
      if (isFound) return 'words'
    }
  }
  const opened = await readOne(store, sessionId, entry.number)
  return opened?.body === null || opened?.body === undefined ? null : 'number'
}

function longestLine(text: string): string {
  const longest = text
    .split('\n')
    .reduce((best, line) => (line.trim().length > best.trim().length ? line : best), '')
  return longest.trim().slice(0, QUERY_CHARACTERS_MAX).trim()
}

const EXCERPT_CHARACTERS = 120
const ROLES = { input: 'user', assistant: 'assistant', result: 'tool' } as const

function reported(
  entry: MessageEntry,
  fate: Fate,
  recalledBy: ReportedMessage['recalledBy'],
): ReportedMessage {
  const { number, tokens } = entry
  const { message } = entryView(entry, 0)
  const text = message === null ? searchedText(entry) : textOf(message)
  const excerpt = clip(oneLine(text.slice(0, EXCERPT_CHARACTERS * 4)), EXCERPT_CHARACTERS)
  return { number, role: ROLES[entry.kind], tokens, fate, recalledBy, excerpt }
}

function countFates(messages: readonly ReportedMessage[]): Record<Fate, FateCount> {
  const count = (fate: Fate): FateCount => {
    const those = messages.filter((message) => message.fate === fate)
    return { messages: those.length, tokens: those.reduce((sum, { tokens }) => sum + tokens, 0) }
  }
  return {
    kept: count('kept'),
    summarized: count('summarized'),
    recallable: count('recallable'),
    gone: count('gone'),
  }
}

/**
 * System text and pins come first; while they are unchanged, the provider's cache still applies.
 */
function sharedTokens(before: Context, after: Context): number {
  let shared = 0
  for (const [index, { message, tokens }] of before.system.entries()) {
    const other = after.system[index]?.message
    if (other === undefined || JSON.stringify(other) !== JSON.stringify(message)) break
    shared += tokens
  }
  return shared
}

function callsPerTurn(entries: readonly MessageEntry[]): number {
  const turns = new Set(
    entries.flatMap(({ kind, meta }) => (kind === 'assistant' ? meta.turn : [])),
  )
  const calls = entries.filter(({ kind }) => kind === 'assistant').length
  return calls / Math.max(1, turns.size)
}

/** Null if there are more calls than a read returns, or if they were made elsewhere. */
async function readAttempts(
  store: ReportReads,
  sessionId: SessionId,
  operation: OperationRow,
): Promise<readonly AttemptRow[] | null> {
  if (isImported(operation)) return null
  const query = { sessionId, task: 'compaction', since: operation.startedAt, limit: LIST_MAX }
  const attempts = await store.readAttempts(query)
  return attempts.length === LIST_MAX ? null : callsOf(operation, attempts)
}

/** The cost of a compaction's model calls. */
export function spendOnCompaction(
  operation: OperationRow,
  attempts: readonly AttemptRow[],
): CompactionSpend | null {
  return isImported(operation) ? null : spendOf(callsOf(operation, attempts))
}

/** The summary calls made during the compaction: a session has one compaction at a time. */
function callsOf(
  { startedAt, endedAt }: OperationRow,
  attempts: readonly AttemptRow[],
): readonly AttemptRow[] {
  return attempts.filter(
    ({ task, at }) =>
      task === 'compaction' && at >= startedAt && at <= (endedAt ?? Number.POSITIVE_INFINITY),
  )
}

function spendOf(calls: readonly AttemptRow[]): CompactionSpend {
  const { inputTokens, outputTokens } = sumOf(calls)
  return {
    calls: calls.length,
    inputTokens,
    outputTokens,
    cost: calls.some(({ cost }) => cost === null)
      ? null
      : calls.reduce((total, { cost }) => total + (cost ?? 0), 0),
  }
}

function sumOf(calls: readonly AttemptRow[]) {
  const sum = (figure: (row: AttemptRow) => number) =>
    calls.reduce((total, row) => total + figure(row), 0)
  return {
    inputTokens: sum((row) => row.inputTokens),
    cachedTokens: sum((row) => row.cachedTokens),
    outputTokens: sum((row) => row.outputTokens),
  }
}
