import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { isObject, type JsonObject, type JsonValue } from '../../packages/core/src/base/json.ts'
import type { AssistantPart, Message, ResultPart } from '../../packages/core/src/message/message.ts'
import { blocksOf } from '../../test/support/corpus.ts'
import { demandOf, wordsOf } from './atoms.ts'

/** One compaction: what stood before it, the summary that a model really wrote, what was needed. */
export interface Event {
  readonly name: string
  /** Sessions are split by the hash of their id: rules are tuned on one half, shown on both. */
  readonly half: 'tune' | 'test'
  readonly before: readonly Message[]
  readonly after: readonly Message[]
  readonly summary?: string
  /** Atoms of later calls that only the history held. */
  readonly demand: readonly string[]
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
    messages.push(readMessage(entry['type'], entry['message'], isWrittenByProgram(entry)))
  }
  return { id, half: halfOf(id), messages, summaries }
}

/** As the codec of these files reads them. */
function isWrittenByProgram(entry: JsonObject): boolean {
  return entry['isMeta'] === true || entry['isCompactSummary'] === true
}

function halfOf(id: string): 'tune' | 'test' {
  return Number.parseInt(hash('sha256', id, 'hex').slice(0, 2), 16) % 2 === 0 ? 'tune' : 'test'
}

function readMessage(type: 'user' | 'assistant', message: JsonObject, meta: boolean): Message {
  const blocks = blocksOf(message['content'])
  if (type === 'assistant') {
    const parts: AssistantPart[] = []
    for (const block of blocks) {
      if (block['type'] === 'text') parts.push({ type: 'text', text: String(block['text']) })
      if (block['type'] === 'tool_use') {
        const { id, name, input } = block
        parts.push({ type: 'tool-call', id: String(id), name: String(name), input: input ?? null })
      }
    }
    return { role: 'assistant', parts }
  }
  const results = blocks.filter((block) => block['type'] === 'tool_result')
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
  const texts = blocks.filter((block) => block['type'] === 'text')
  return {
    role: 'user',
    parts: texts.map((block) => ({ type: 'text', text: String(block['text']) })),
    ...(meta && { synthetic: true as const }),
  }
}

function readOutput(content: JsonValue | undefined): ResultPart[] {
  return blocksOf(content)
    .filter((block) => block['type'] === 'text')
    .map((block) => ({ type: 'text', text: String(block['text']) }))
}

/** Fewer messages or atoms say little about a compaction. */
const MINIMA = { before: 20, after: 6, atoms: 5 }

/** The recorded compactions: from the previous summary, itself included, to the next one. */
export function recordedEvents(sessions: readonly Session[], minima = MINIMA): Event[] {
  return sessions.flatMap(({ id, half, messages, summaries }) =>
    summaries.flatMap((cut, index) => {
      const summary = messages[cut]
      return eventOf({
        half,
        minima,
        name: `${id.slice(0, 8)}.${index + 1}`,
        before: messages.slice(summaries[index - 1] ?? 0, cut),
        after: messages.slice(cut + 1, summaries[index + 1]),
        ...(summary !== undefined && { summary: wordsOf(summary) }),
      })
    }),
  )
}

/** Long stretches without a compaction, cut at 60%: what the agent used was not shaped by one. */
export function longCuts(sessions: readonly Session[]): Event[] {
  return sessions.flatMap(({ id, half, messages, summaries }) =>
    [0, ...summaries].flatMap((from, index) => {
      const stretch = messages.slice(from, summaries[index])
      if (stretch.length < STRETCH_MESSAGES_MIN) return []
      let cut = Math.floor(stretch.length * 0.6)
      while (stretch[cut]?.role === 'tool') cut++
      const name = `${id.slice(0, 8)}.${index + 1} at 60%`
      return eventOf({ half, name, before: stretch.slice(0, cut), after: stretch.slice(cut) })
    }),
  )
}

const STRETCH_MESSAGES_MIN = 80

export function eventOf(request: Omit<Event, 'demand'> & { minima?: typeof MINIMA }): Event[] {
  const { minima = MINIMA, ...event } = request
  if (event.before.length < minima.before || event.after.length < minima.after) return []
  const demand = demandOf(event.before.map(wordsOf).join('\n'), event.after)
  return demand.length < minima.atoms ? [] : [{ ...event, demand }]
}
