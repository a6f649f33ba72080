import { entryNumber, mailNumber, type SessionId } from '#core/base/ids'
import { isObject, type JsonObject, type JsonValue } from '#core/base/json'
import type { Reads } from '#core/store/contract'
import type { MailItem } from '#core/store/queries'
import type { Entry, SessionRow } from '#core/store/tables/rows'
import type { Sign } from './loop.ts'

/** Part of the body of every message between agents, beside the text. */
export interface From {
  readonly agent: string
  readonly sessionId: SessionId
  /** The size of the text alone. */
  readonly tokens: number
}

export const SEND_MESSAGE = 'send_message'
/** Enough for any rule: what happened earlier is not "in a row". */
const MAIL_READ = 64
const ENTRIES_READ = 128

export interface Signs {
  readonly signs: readonly Sign[]
  readonly mail: readonly MailItem[]
}

/** The recent events in a session, seen from one that exchanges messages with it. */
export async function readRecentEvents(
  store: Pick<Reads, 'listMail' | 'readEntries'>,
  session: SessionRow,
  other: SessionId,
): Promise<Signs> {
  const { id: sessionId } = session
  const after = mailNumber(Math.max(0, session.mail - MAIL_READ))
  const from = entryNumber(Math.max(1, session.tail - ENTRIES_READ + 1))
  const [mail, entries] = await Promise.all([
    store.listMail({ sessionId, after, limit: MAIL_READ }),
    store.readEntries({ sessionId, from, to: session.tail }),
  ])
  const signs = [
    ...mail.filter(({ lane }) => lane !== 'control').map((item) => mailSign(item, other)),
    ...entries.filter(actsOtherwise).map(({ at }): Sign => ({ at, kind: 'other' })),
  ]
  return { signs, mail }
}

function mailSign(item: MailItem, other: SessionId): Sign {
  const from = fromOf(parseMailBody(item.body))
  if (from === null) return { at: item.at, kind: 'other' }
  const kind = from.sessionId === other ? 'message' : 'third'
  return { at: item.at, kind, tokens: from.tokens }
}

/** A reply that calls a tool other than the one that sends messages. */
function actsOtherwise(entry: Entry): boolean {
  if (entry.kind !== 'assistant' || entry.meta.calls.length === 0) return false
  const parts = parseMailBody(entry.body)['parts']
  if (!Array.isArray(parts)) return false
  return parts.some(
    (part: JsonValue) =>
      isObject(part) && part['type'] === 'tool-call' && part['name'] !== SEND_MESSAGE,
  )
}

export function fromOf(body: JsonObject): From | null {
  const from = body['from']
  if (!isObject(from)) return null
  const { agent, sessionId, tokens } = from as { [key in keyof From]?: JsonValue }
  const isWhole =
    typeof agent === 'string' && typeof sessionId === 'string' && typeof tokens === 'number'
  return isWhole ? { agent, sessionId: sessionId as SessionId, tokens } : null
}

export function parseMailBody(text: string | null): JsonObject {
  const body = text === null ? null : (JSON.parse(text) as JsonValue)
  return isObject(body) ? body : {}
}
