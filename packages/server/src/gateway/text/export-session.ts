import type { SessionId } from '#core/base/ids'
import { isObject, type JsonObject } from '#core/base/json'
import { oneLine } from '#core/base/line'
import { derivedUuid } from '#core/message/formats/derived-id'
import { codecOf } from '#core/message/formats/file-formats'
import type { Message } from '#core/message/message'
import { textOf } from '#core/message/text'
import { asTyped } from '#core/message/typed-command'
import { loadParts } from '#core/session/blobs'
import type {
  ContextView,
  Session,
  SessionSummary,
  TranscriptEntry,
} from '../../runtime/runtime.ts'
import { compactionTitle, isRemoved, pinTitle, revertTitle } from './entry-titles.ts'
import { showUnseen } from './show-unseen.ts'
import type { WrittenEntry } from './written-entry.ts'

/**
 * A session for people (Markdown, HTML: the whole transcript) or for another program (the current
 * context: the handoff and the messages since, so that the program can continue from there).
 */
export const EXPORT_FORMS = {
  markdown: { type: 'text/markdown; charset=utf-8', extension: 'md' },
  html: { type: 'text/html; charset=utf-8', extension: 'html' },
  'claude-code': { type: 'application/x-ndjson', extension: 'claude-code.jsonl' },
  codex: { type: 'application/x-ndjson', extension: 'codex.jsonl' },
  'openai-chat': { type: 'application/json', extension: 'openai-chat.json' },
} as const

export type ExportForm = keyof typeof EXPORT_FORMS

export const EXPORT_NAMES = Object.keys(EXPORT_FORMS) as [ExportForm, ...ExportForm[]]

/** The id under which Claude Code or Codex continues a session; always the same for a session. */
export function idElsewhere(session: SessionId): string {
  return derivedUuid('throughline', session)
}

/**
 * Streams, because a transcript may not fit into memory. `folder`: where another program continues to
 * work.
 */
export async function* exportAs(
  session: Session,
  summary: SessionSummary,
  { form, folder = '/' }: { readonly form: ExportForm; readonly folder?: string },
): AsyncGenerator<string> {
  switch (form) {
    case 'markdown': {
      // Imported here so that other commands do not load the Markdown parser.
      const { entryMarkdown, headMarkdown } = await import('./markdown.ts')
      yield showUnseen(headMarkdown(headingOf(summary), factsOf(summary)))
      for await (const entry of writtenEntries(session, summary)) {
        yield showUnseen(entryMarkdown(entry))
      }
      return
    }
    case 'html': {
      const { documentHtml } = await import('./html.ts')
      const entries = writtenEntries(session, summary)
      const pieces = documentHtml(headingOf(summary), factsOf(summary), entries)
      for await (const piece of pieces) yield showUnseen(piece)
      return
    }
    case 'claude-code':
    case 'codex':
    case 'openai-chat':
      yield foreignText(form, await contextMessages(session, summary), {
        id: idElsewhere(session.id),
        heading: headingOf(summary),
        folder,
      })
      return
    default:
      form satisfies never
  }
}

function headingOf({ title, id }: SessionSummary): string {
  return oneLine(title ?? id)
}

function factsOf({ id, agent, createdAt, entries }: SessionSummary): string {
  return `Session ${id} of ${agent}, begun ${new Date(createdAt).toISOString()}, ${entries} entries.`
}

const PAGE = 200

async function* entriesOf(session: Session, tail: number): AsyncGenerator<TranscriptEntry> {
  for (let from = 1; from <= tail; from += PAGE) {
    yield* (await session.transcript({ from, to: Math.min(tail, from + PAGE - 1) })) ?? []
  }
}

async function* writtenEntries(
  session: Session,
  { entries }: SessionSummary,
): AsyncGenerator<WrittenEntry> {
  for await (const entry of entriesOf(session, entries)) {
    const written = writtenEntry(entry)
    if (written !== null) yield written
  }
}

/** With its number, which the titles of compactions and their undoing name. Null: it is not for people. */
function writtenEntry(entry: TranscriptEntry): WrittenEntry | null {
  const said = saidIn(entry)
  if (said === null) return null
  const at = new Date(entry.at).toISOString().replace('T', ' ').slice(0, 16)
  const { title, text, isMarkdown = true, note = 'Erased.' } = said
  const capital = `${title.charAt(0).toUpperCase()}${title.slice(1)}`
  return { heading: `${capital} · ${at} · #${entry.number}`, text, isMarkdown, note }
}

interface Said {
  readonly title: string
  readonly text: string | null
  readonly isMarkdown?: boolean
  readonly note?: string | null
}

function saidIn(entry: TranscriptEntry): Said | null {
  const { kind, message, meta, body } = entry
  const text = message === null ? null : textOf(asTyped(message))
  switch (kind) {
    case 'input': {
      const isSummary = message?.role === 'user' && message.isSummary
      return { title: isSummary ? "Client's summary" : 'User', text }
    }
    case 'assistant':
      return { title: 'Agent', text }
    case 'result':
      return { title: 'Tool result', text, isMarkdown: false }
    case 'compaction': {
      const title = compactionTitle(entry)
      if ('by' in meta && meta.by === 'clearing') return { title, text: null, note: null }
      const summary = isObject(body) ? body['summary'] : undefined
      return { title, text: typeof summary === 'string' ? summary : null }
    }
    case 'revert':
      return { title: revertTitle(entry), text: null, note: null }
    case 'pin': {
      const title = pinTitle(entry)
      if (isRemoved(meta)) return { title, text: null, note: null }
      return { title, text: typeof body === 'string' ? body : null, isMarkdown: false }
    }
    default:
      return null
  }
}

/** Adds the bytes of images and files, which the store keeps beside the entries. */
async function contextMessages(
  session: Session,
  summary: SessionSummary,
): Promise<readonly Message[]> {
  const context = await session.context({})
  const findBlob: Parameters<typeof loadParts>[0]['findBlob'] = async ({ hash }) => {
    const blob = await session.blob(hash)
    return blob && { mediaType: blob.mediaType, bytes: Buffer.from(blob.data, 'base64') }
  }
  const messages = (context?.messages ?? []).filter(({ role }) => role !== 'system')
  const whole = await loadParts({ findBlob }, session.id, messages)
  const times = await tailTimes(session, context)
  // Pins and the handoff come first; both are older than what follows.
  const older = new Date(summary.compactedAt ?? summary.createdAt).toISOString()
  return whole.map((message, index) => {
    const at = times[index - whole.length + times.length] ?? older
    return { ...message, at: message.at ?? at }
  })
}

/** When each message behind the handoff was stored, in order. */
async function tailTimes(
  session: Session,
  context: ContextView | undefined,
): Promise<readonly string[]> {
  const tail = (context?.parts ?? []).filter(({ kind }) => kind === 'tail' || kind === 'incoming')
  const numbers = tail.map(({ origin }) => origin.from)
  const [from = 1, to = 0] = [numbers[0], numbers.at(-1)]
  const times = new Map<number, string>()
  for (let first = from; first <= to; first += PAGE) {
    const page = await session.transcript({ from: first, to: Math.min(to, first + PAGE - 1) })
    for (const { number, at } of page ?? []) times.set(number, new Date(at).toISOString())
  }
  return numbers.flatMap((number) => times.get(number) ?? [])
}

interface ContinuedAs {
  readonly id: string
  readonly folder: string
  readonly heading: string
}

function foreignText(
  form: 'claude-code' | 'codex' | 'openai-chat',
  messages: readonly Message[],
  place: ContinuedAs,
): string {
  const codec = codecOf(form)
  const document = codec.format({ format: form, messages, notes: [] })
  if (codec.framing === 'json') return `${JSON.stringify(document, null, 2)}\n`
  return (document as readonly JsonObject[])
    .flatMap((line) => placed(line, place))
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('')
}

/**
 * Programs find a session again by its id and by the folder that they work in. Codex lists a session
 * only if it holds the event of a user's message.
 */
function placed(line: JsonObject, { id, folder, heading }: ContinuedAs): readonly JsonObject[] {
  const { type, payload, timestamp = null } = line
  if ('sessionId' in line) return [{ ...line, sessionId: id, cwd: folder }]
  if (type !== 'session_meta' || !isObject(payload)) return [line]
  const said = { type: 'user_message', message: heading, kind: 'plain' }
  return [
    { ...line, payload: { ...payload, id, cwd: folder } },
    { timestamp, type: 'event_msg', payload: said },
  ]
}
