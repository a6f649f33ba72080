import { isObject, type JsonObject, type JsonValue } from '../../../base/json.ts'
import type { Conversation } from '../../codec.ts'
import { findHandoff } from '../../handoff/envelope.ts'
import type { Message, Part } from '../../message.ts'
import { isLost, spellingOf, writeContent } from '../content.ts'
import { derivedId, derivedUuid, NO_TIME } from '../derived-id.ts'
import { type PlainMessage, plain } from '../openai-responses/items.ts'
import { hasWord, ownOrigin, textField } from '../origin.ts'
import { apiOf, writePiPart } from './parts.ts'

/**
 * Writes a pi session with only the given messages, as one branch: a tree if the file is new or had
 * one, otherwise plain lines. A summary at the start of the conversation is written as pi's own
 * compaction, which keeps nothing before it and everything after.
 */
const FORMAT = 'pi'

export function writeSession(conversation: Conversation): JsonValue {
  // An earlier step that made the messages fit a provider may have expanded the handoff already.
  const messages = findHandoff(conversation.messages)
  const [header = freshHeader(messages)] = conversation.header ?? []
  const isTree = isObject(header) && Number(header['version'] ?? 1) >= 2
  const lead = messages.findIndex(({ role }) => role !== 'system')
  const written = messages.flatMap((message, index) => writeEntry(message, index === lead))
  const entries: JsonObject[] = []
  const used = new Set<string>()
  let parentId: string | null = null
  let timestamp = (isObject(header) && textField(header, 'timestamp')) || NO_TIME
  for (const { entry, at, isOwn } of written) {
    timestamp = textField(entry, 'timestamp') ?? at ?? timestamp
    const kept = textField(entry, 'id')
    const isKept = kept !== undefined && !used.has(kept)
    const id: string = isKept ? kept : derivedId(FORMAT, parentId ?? '', used.size).slice(0, 8)
    used.add(id)
    const stamp = isOwn ? {} : { timestamp }
    entries.push({ ...stamp, ...entry, ...(isTree && { id, parentId }) })
    parentId = id
  }
  return [
    header,
    ...entries.map((entry, index) => withKept(entry, entries[index + 1], index, isTree)),
  ]
}

/** A compaction names the first entry that it kept: here, the next one. */
function withKept(
  entry: JsonObject,
  next: JsonObject | undefined,
  index: number,
  isTree: boolean,
): JsonObject {
  if (entry['type'] !== 'compaction') return entry
  if (isTree) return { ...entry, firstKeptEntryId: (next ?? entry)['id'] ?? '' }
  return { ...entry, firstKeptEntryIndex: index + 2 }
}

interface Written {
  readonly entry: JsonObject
  readonly at: string | undefined
  readonly isOwn: boolean
}

function writeEntry(message: Message, isLead: boolean): readonly Written[] {
  const written = plain(message, FORMAT)
  const entry = summaryEntry(message, written, isLead) ?? messageEntries(written)
  const isOwn = ownOrigin(message, FORMAT) !== undefined
  return entry.map((each) => ({ entry: each, at: message.at, isOwn }))
}

function summaryEntry(
  message: Message,
  written: PlainMessage,
  isLead: boolean,
): readonly JsonObject[] | undefined {
  const origin = ownOrigin(message, FORMAT)
  const [only, more] = written.parts
  if (only?.type !== 'text' || more !== undefined) return undefined
  if (isLead && (message.role === 'handoff' || hasWord(origin, 'compaction'))) {
    return [{ type: 'compaction', ...(origin?.fields ?? { tokensBefore: 0 }), summary: only.text }]
  }
  if (hasWord(origin, 'branch_summary')) {
    return [{ ...origin?.fields, type: 'branch_summary', summary: only.text }]
  }
  return undefined
}

function messageEntries(message: PlainMessage): readonly JsonObject[] {
  const own = ownOrigin(message, FORMAT)
  const [only] = message.parts
  const text = only?.type === 'text' && message.parts.length === 1 ? only.text : undefined
  // Rewritten as text: a compaction that is no longer first would hide the entries before it, and a
  // command would restore the output that was cut.
  const isStale =
    hasWord(own, 'compaction') ||
    (hasWord(own, 'bashExecution') && text !== bashText(innerOf(own?.fields)))
  const origin = isStale ? undefined : own
  const { message: _, ...outer } = origin?.fields ?? {}
  const inner = innerOf(origin?.fields)
  const entry = (value: JsonObject): JsonObject => ({ ...outer, type: 'message', message: value })

  if (hasWord(origin, 'bashExecution')) return [entry(inner)]
  if (hasWord(origin, 'summary') && text !== undefined) return [entry({ ...inner, summary: text })]
  if (message.role === 'tool') {
    return message.parts.map((part) => {
      const content = contentOf(part.output, spellingOf(ownOrigin(part, FORMAT), 'parts'), '')
      return entry({
        role: 'toolResult',
        toolCallId: part.callId,
        ...(origin === undefined && { toolName: '', isError: false }),
        ...inner,
        ...(part.name !== undefined && { toolName: part.name }),
        ...content,
        ...(part.isError && { isError: true }),
      })
    })
  }
  const api = textField(inner, 'api') ?? apiOf(message.parts)
  const usual = message.role === 'assistant' || message.parts.length > 1 ? 'parts' : 'string'
  const sections = message.parts.filter((part) => hasWord(ownOrigin(part, FORMAT), 'section'))
  const parts = message.parts.filter((part) => !sections.includes(part))
  const body = contentOf(parts, spellingOf(origin, usual), api)
  if (sections.length === 0 && isLost(body['content'], message.parts)) return []
  if (hasWord(origin, 'custom_message')) return [{ ...outer, type: 'custom_message', ...body }]
  if (origin === undefined && message.role === 'user' && message.synthetic) {
    return [{ type: 'custom_message', customType: 'throughline', ...body, display: false }]
  }
  const facts = origin === undefined ? freshFacts(message, api) : {}
  return [
    entry({ role: message.role, ...facts, ...body, ...inner, ...sectionsOf(sections, inner) }),
  ]
}

/** The present sections, in their order; null stays, as the mark of one that was removed. */
function sectionsOf(parts: readonly Part[], { sections }: JsonObject): JsonObject {
  const texts = parts.flatMap((part) => {
    const name = ownOrigin(part, FORMAT)?.fields?.['name']
    return part.type === 'text' && typeof name === 'string' ? [[name, part.text] as const] : []
  })
  if (!isObject(sections) && texts.length === 0) return {}
  const named = new Map<string, JsonValue>(texts)
  const known = isObject(sections) ? sections : Object.fromEntries(named)
  const present = Object.entries(known).flatMap(([name, text]) => {
    const now = typeof text === 'string' ? named.get(name) : text
    return now === undefined ? [] : [[name, now]]
  })
  return { sections: Object.fromEntries(present) }
}

function innerOf(fields: JsonObject | undefined): JsonObject {
  const message = fields?.['message']
  return isObject(message) ? message : {}
}

function contentOf(
  parts: readonly Part[],
  spelling: ReturnType<typeof spellingOf>,
  api: string,
): JsonObject {
  const content = writeContent(parts, spelling, FORMAT, (part) => writePiPart(part, api))
  return content === undefined ? {} : { content }
}

function freshFacts(message: PlainMessage, api: string): JsonObject {
  if (message.role !== 'assistant') return {}
  const { model, usage } = message
  return {
    api,
    provider: api === 'unknown' ? api : (api.split('-')[0] ?? api),
    ...(model !== undefined && { model }),
    ...(usage && {
      usage: { input: usage.inputTokens, output: usage.outputTokens, cacheRead: 0, cacheWrite: 0 },
    }),
    stopReason: message.parts.some(({ type }) => type === 'tool-call') ? 'toolUse' : 'stop',
  }
}

/** A command that the person ran outside the conversation, as the model sees it. */
export function bashText(message: JsonObject): string {
  const { command, output, exitCode, cancelled } = message
  const said = typeof output === 'string' && output !== '' ? output : '(no output)'
  const ending =
    cancelled === true
      ? '\n(cancelled)'
      : typeof exitCode === 'number' && exitCode !== 0
        ? `\n(exit code ${exitCode})`
        : ''
  return `Ran ${String(command)}\n${said}${ending}`
}

function freshHeader(messages: readonly Message[]): JsonObject {
  const timestamp = messages.find(({ at }) => at !== undefined)?.at ?? NO_TIME
  const id = derivedUuid(FORMAT, messages.length, timestamp)
  return { type: 'session', version: 3, id, timestamp, cwd: '' }
}
