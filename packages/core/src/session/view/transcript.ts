import type { EntryNumber, MailNumber, SessionId } from '../../base/ids.ts'
import { isObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { Message } from '../../message/message.ts'
import { textOf } from '../../message/text.ts'
import type { Reads } from '../../store/contract.ts'
import { parseBody } from '../../store/integrity/damaged-row.ts'
import type { Entry, EntryKind } from '../../store/rows.ts'
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
const ENDS: readonly string[] = ['turn ended', 'message withdrawn', 'session deleted']

interface MailId {
  readonly sessionId: SessionId
  readonly mail: MailNumber
}

/** A fork numbers its mail from 1 again, so the entries before it may name the same number. */
interface OwnMail extends MailId {
  readonly forkedAt: number
}

type ReplyReads = Pick<Reads, 'listMail' | 'findSession' | 'readEntries'>

/** The reply of the turn that took this mail. Null: there is none, or the signal aborted. */
export async function waitForReply(
  { store, hub }: { readonly store: ReplyReads; readonly hub: Pick<EventHub, 'news'> },
  mail: MailId,
  signal: AbortSignal,
): Promise<Reply | null> {
  const forkedAt = (await store.findSession(mail.sessionId))?.forkedAt ?? 0
  for await (const event of hub.news(mail.sessionId, signal)) {
    if (event !== null && !ENDS.includes(event.kind)) continue
    const reply =
      event?.kind === 'turn ended'
        ? await readReplyBefore(store, { ...mail, forkedAt }, Number(event.facts['entry']))
        : await readReply(store, { ...mail, forkedAt })
    if (reply !== undefined) return reply
  }
  return null
}

/** Usually the input is among the last entries of the turn that ended here, and one read is enough. */
async function readReplyBefore(
  store: ReplyReads,
  own: OwnMail,
  end: number,
): Promise<Reply | null | undefined> {
  const { sessionId, mail, forkedAt } = own
  const page = await readRange(store, sessionId, Math.max(forkedAt, end - PAGE), end)
  const at = indexOfInput(page, mail)
  const input = page[at]
  if (input === undefined) return await readReply(store, own)
  return findReply(sessionId, input.number, page.slice(at + 1))
}

function indexOfInput(page: readonly Entry[], mail: MailNumber): number {
  return page.findIndex(
    ({ kind, meta }) => kind === 'input' && 'mail' in meta && meta.mail === mail,
  )
}

/** Undefined: not yet. Null: it was withdrawn, or there is no such mail. */
async function readReply(
  store: ReplyReads,
  { sessionId, mail, forkedAt }: OwnMail,
): Promise<Reply | null | undefined> {
  // Read the mail first: a tail read before it might not reach input delivered in between.
  const [item] = await store.listMail({ sessionId, after: (mail - 1) as MailNumber, limit: 1 })
  if (item?.number !== mail || item.state === 'withdrawn' || item.lane === 'control') return null
  if (item.state === 'pending') return undefined
  const session = await store.findSession(sessionId)
  if (session === undefined) return null
  // Backwards, because an awaited answer is near the end.
  let behind: readonly Entry[] = []
  for (let to = session.tail as number; to > forkedAt; to -= PAGE) {
    const page = await readRange(store, sessionId, Math.max(forkedAt, to - PAGE), to)
    const at = indexOfInput(page, mail)
    behind = [...page.slice(at + 1), ...behind]
    const input = page[at]
    if (input !== undefined) return findReply(sessionId, input.number, behind)
  }
  return null
}
