import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { isObject, type JsonObject, type JsonValue } from '../../src/base/json.ts'
import type { AssistantPart, Message, ResultPart } from '../../src/message/message.ts'
import { demandOf, textOf } from './atoms.ts'

/** One compaction: what stood before it, the summary that a model really wrote, what came after. */
export interface Event {
  readonly session: string
  /** Sessions are split by the hash of their id: rules are tuned on one half, shown on both. */
  readonly half: 'tune' | 'test'
  readonly before: readonly Message[]
  readonly summary?: string
  readonly demand: readonly string[]
  readonly name: string
}

export function corpusFolder(): string {
  return process.env['THROUGHLINE_CORPUS'] ?? path.resolve('..', 'shared', 'corpus')
}

export interface Session {
  readonly id: string
  readonly half: 'tune' | 'test'
  readonly messages: readonly Message[]
  /** Places of the recorded summaries. */
  readonly summaries: readonly number[]
}

export function readSessions(folder: string): Session[] {
  return readdirSync(path.join(folder, 'claude-code'))
    .filter((name) => name.endsWith('.jsonl.gz'))
    .sort()
    .map((name) => readSession(path.join(folder, 'claude-code', name), name.slice(0, 36)))
}

function readSession(file: string, id: string): Session {
  const messages: Message[] = []
  const summaries: number[] = []
  for (const line of gunzipSync(readFileSync(file)).toString().split('\n')) {
    if (line === '') continue
    const entry: unknown = JSON.parse(line)
    if (!isObject(entry) || entry['isSidechain'] === true || !isObject(entry['message'])) continue
    if (entry['type'] !== 'user' && entry['type'] !== 'assistant') continue
    if (entry['isCompactSummary'] === true) summaries.push(messages.length)
    messages.push(readMessage(entry['type'], entry['message'], entry['isMeta'] === true))
  }
  return { id, half: halfOf(id), messages, summaries }
}

function halfOf(id: string): 'tune' | 'test' {
  return Number.parseInt(hash('sha256', id, 'hex').slice(0, 2), 16) % 2 === 0 ? 'tune' : 'test'
}

function readMessage(type: 'user' | 'assistant', message: JsonObject, meta: boolean): Message {
  const content = message['content'] ?? ''
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  const items = (Array.isArray(blocks) ? (blocks as JsonValue[]) : []).filter(isObject)
  if (type === 'assistant') {
    const parts: AssistantPart[] = []
    for (const block of items) {
      if (block['type'] === 'text') parts.push({ type: 'text', text: String(block['text']) })
      if (block['type'] === 'tool_use') {
        const { id, name, input } = block
        parts.push({ type: 'tool-call', id: String(id), name: String(name), input: input ?? null })
      }
    }
    return { role: 'assistant', parts }
  }
  const results = items.filter((block) => block['type'] === 'tool_result')
  if (results.length > 0) {
    return {
      role: 'tool',
      parts: results.map((block) => ({
        type: 'tool-result',
        callId: String(block['tool_use_id']),
        output: readOutput(block['content']),
        ...(block['is_error'] === true && { isError: true as const }),
      })),
    }
  }
  const texts = items.filter((block) => block['type'] === 'text')
  return {
    role: 'user',
    parts: texts.map((block) => ({ type: 'text', text: String(block['text']) })),
    ...(meta && { synthetic: true as const }),
  }
}

function readOutput(content: JsonValue | undefined): ResultPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  const items = (Array.isArray(content) ? (content as JsonValue[]) : []).filter(isObject)
  return items
    .filter((item) => item['type'] === 'text')
    .map((item) => ({ type: 'text', text: String(item['text']) }))
}

const BEFORE_MIN = 20
const AFTER_MIN = 6
const ATOMS_MIN = 5

/** The recorded compactions: from the previous summary, itself included, to the next one. */
export function recordedEvents(sessions: readonly Session[]): Event[] {
  return sessions.flatMap((session) =>
    session.summaries.flatMap((cut, index) => {
      const before = session.messages.slice(session.summaries[index - 1] ?? 0, cut)
      const after = session.messages.slice(cut + 1, session.summaries[index + 1])
      const summary = session.messages[cut]
      return eventOf(session, before, after, `${session.id.slice(0, 8)}.${index + 1}`, summary)
    }),
  )
}

export function eventOf(
  session: Pick<Session, 'id' | 'half'>,
  before: readonly Message[],
  after: readonly Message[],
  name: string,
  summary?: Message,
): Event[] {
  if (before.length < BEFORE_MIN || after.length < AFTER_MIN) return []
  const demand = demandOf(before.map(textOf).join('\n'), after)
  if (demand.length < ATOMS_MIN) return []
  return [
    {
      session: session.id,
      half: session.half,
      name,
      before,
      demand,
      ...(summary !== undefined && { summary: textOf(summary) }),
    },
  ]
}
