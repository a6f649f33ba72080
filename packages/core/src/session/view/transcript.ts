import type { EntryNumber, MailNumber, SessionId } from '../../base/ids.ts'
import { isObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { Message } from '../../message/message.ts'
import { textOf } from '../../message/text.ts'
import type { Reads } from '../../store/contract.ts'
import { parseBody } from '../../store/integrity/damaged-row.ts'
import type { Entry, EntryKind } from '../../store/tables/rows.ts'
import { readRange } from '../context/source.ts'
import type { EventHub } from '../events/event-hub.ts'

export interface TranscriptEntry {
  readonly number: EntryNumber
  readonly kind: EntryKind
  readonly at: number
  readonly tokens: number
  readonly meta: Entry['meta']
  /** For input, assistant and result; null once erased, and for the other kinds. */
  readonly message: Message | null
  /** For the other kinds: pins, tasks, settings, handoffs. */
  readonly body: JsonObject | string | null
  /** The compaction in effect covers it: the model no longer sees it word for word. */
  readonly isCovered: boolean
}

export interface Reply {
  readonly sessionId: SessionId
  readonly turn: number
  readonly entry: EntryNumber
  readonly ended: 'answered' | 'stopped' | 'failed'
  /** Why it failed; null if it did not, or if it ended before reasons were recorded. */
  readonly reason: string | null
  readonly text: string
}

export function entryView(entry: Entry, covers: number): TranscriptEntry {
  const { number, kind, at, tokens, meta } = entry
  const body = parseBody('entry', entry)
  return {
    number,
    kind,
    at,
    tokens,
    meta,
    message: messageIn(entry, body),
    body: isMessage(entry) || body === null ? null : bodyView(body),
    isCovered: isMessage(entry) && number <= covers,
  }
}

function isMessage({ kind }: Entry): boolean {
  return kind === 'input' || kind === 'assistant' || kind === 'result'
}

function bodyView(body: JsonValue): JsonObject | string {
  if (typeof body === 'string' || isObject(body)) return body
  return JSON.stringify(body)
}

function messageIn(entry: Entry, body: JsonValue): Message | null {
  if (body === null) return null
  switch (entry.kind) {
    case 'input': {
      const inner = isObject(body) ? body['message'] : undefined
      return isObject(inner) ? (inner as unknown as Message) : null
    }
    case 'assistant':
      return isObject(body) ? (body as unknown as Message) : null
    case 'result': {
      const output = Array.isArray(body)
        ? (body as never)
        : [{ type: 'text' as const, text: typeof body === 'string' ? body : JSON.stringify(body) }]
      const part = { type: 'tool-result' as const, callId: entry.meta.call, output }
      const isError = entry.meta.outcome !== 'ok'
      return { role: 'tool', parts: [isError ? { ...part, isError } : part] }
    }
    default:
      return null
  }
}

/**
 * The answer to an input, from the entries after it: that of the first ended turn whose model had
 * the input in its context, or that was given up. Undefined: not yet.
 */
export function findReply(
  sessionId: SessionId,
  input: number,
  entries: readonly Entry[],
): Reply | undefined {
  let seen = 0
  let last: Entry | undefined
  for (const entry of entries) {
    if (entry.kind === 'assistant') {
      seen = Math.max(seen, entry.meta.upto)
      last = entry
    } else if (entry.kind === 'turn') {
      const { turn, ended } = entry.meta
      if (seen >= input || ended === 'failed') {
        const message = last === undefined ? null : entryView(last, 0).message
        const text = message === null ? '' : textOf(message)
        const number = last?.number ?? entry.number
        return { sessionId, turn, entry: number, ended, reason: reasonOf(entry), text }
      }
      last = undefined
    }
  }
  return undefined
}

function reasonOf(entry: Entry): string | null {
  const body = parseBody('entry', entry)
  const reason = isObject(body) ? body['reason'] : undefined
  return typeof reason === 'string' ? reason : null
}

const PAGE = 200
/** After these the mail and the session are read again. */
const REMOVALS: readonly string[] = ['message withdrawn', 'session deleted']

interface MailId {
  readonly sessionId: SessionId
  readonly mail: MailNumber
}

type ReplyReads = Pick<Reads, 'listMail' | 'findSession' | 'readEntries'>
type News = ReturnType<EventHub['news']>

export interface ReplyParts {
  readonly store: ReplyReads
  readonly hub: Pick<EventHub, 'news' | 'isListening'>
}

/** The reply of the turn that took this mail. Null: there is none, or the signal aborted. */
export async function waitForReply(
  { store, hub }: ReplyParts,
  mail: MailId,
  signal: AbortSignal,
): Promise<Reply | null> {
  return await replyIn(store, hub.news(mail.sessionId, signal), mail)
}

/**
 * Admits a message and waits for its reply. If the hub listens already, this listens before the
 * message is admitted: everything that happens to it is heard, and only its turn is read. `admit`
 * returns the number of a new message; null: it was admitted earlier, or refused.
 */
export async function admitAndListen<Admission>(
  { store, hub }: ReplyParts,
  sessionId: SessionId,
  admit: () => Promise<{ readonly admission: Admission; readonly mail: MailNumber | null }>,
  signal: AbortSignal,
): Promise<{ readonly admission: Admission; readonly reply: Promise<Reply | null> | null }> {
  const news = hub.isListening ? hub.news(sessionId, signal) : null
  try {
    const listening = news?.next()
    const { admission, mail } = await admit()
    if (news === null || mail === null) {
      await news?.return(null)
      return { admission, reply: null }
    }
    await listening
    return { admission, reply: replyIn(store, news, { sessionId, mail }) }
  } catch (error) {
    await news?.return(null)
    throw error
  }
}

async function replyIn(store: ReplyReads, news: News, own: MailId): Promise<Reply | null> {
  const { sessionId, mail } = own
  /** The entry of this mail; null: it is still in the mailbox. */
  let input: number | null = null
  for await (const event of news) {
    if (event === null || REMOVALS.includes(event.kind)) {
      const read = await readReply(store, own)
      if (read.kind !== 'waiting') return read.kind === 'found' ? read.reply : null
      input = read.input
    } else if (event.kind === 'message delivered') {
      input ??= entryOf(event.facts, mail)
    } else if (event.kind === 'turn ended' && input !== null) {
      const entries = await readRange(store, sessionId, input, Number(event.facts['entry']))
      const reply = findReply(sessionId, input, entries)
      if (reply !== undefined) return reply
    }
  }
  return null
}

/** A delivery appends its messages one after the other. */
function entryOf({ mail: delivered, from }: JsonObject, mail: MailNumber): number | null {
  const at = Array.isArray(delivered) ? delivered.indexOf(mail) : -1
  return at < 0 ? null : Number(from) + at
}

function indexOfInput(page: readonly Entry[], mail: MailNumber): number {
  return page.findIndex(
    ({ kind, meta }) => kind === 'input' && 'mail' in meta && meta.mail === mail,
  )
}

type ReadReply =
  | { readonly kind: 'found'; readonly reply: Reply }
  | { readonly kind: 'waiting'; readonly input: number | null }
  /** It was withdrawn, or there is no such mail. */
  | { readonly kind: 'none' }

async function readReply(store: ReplyReads, { sessionId, mail }: MailId): Promise<ReadReply> {
  // Read the mail first: a tail read before it might not reach input delivered in between.
  const [item] = await store.listMail({ sessionId, after: (mail - 1) as MailNumber, limit: 1 })
  if (item?.number !== mail || item.state === 'withdrawn' || item.lane === 'control') {
    return { kind: 'none' }
  }
  if (item.state === 'pending') return { kind: 'waiting', input: null }
  const session = await store.findSession(sessionId)
  if (session === undefined) return { kind: 'none' }
  // A fork numbers its mail from 1 again, so the entries before it may name the same number.
  const { tail, forkedAt = 0 } = session
  // Backwards, because an awaited answer is near the end.
  let behind: readonly Entry[] = []
  for (let to = tail as number; to > forkedAt; to -= PAGE) {
    const page = await readRange(store, sessionId, Math.max(forkedAt, to - PAGE), to)
    const at = indexOfInput(page, mail)
    behind = [...page.slice(at + 1), ...behind]
    const input = page[at]?.number
    if (input === undefined) continue
    const reply = findReply(sessionId, input, behind)
    return reply === undefined ? { kind: 'waiting', input } : { kind: 'found', reply }
  }
  return { kind: 'none' }
}
