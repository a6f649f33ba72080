import { isArray, isObject, type JsonObject } from '#core/base/json'
import type { Codec } from '#core/message/codec'
import {
  activeLines,
  preservedIds,
  withQueuedPrompts,
} from '#core/message/formats/claude-code/branch'
import { claudeCodeFormat } from '#core/message/formats/claude-code/claude-code'
import { codexFormat } from '#core/message/formats/codex/codex'
import { piFormat } from '#core/message/formats/pi/pi'
import type { Message } from '#core/message/message'
import { textOf } from '#core/message/text'
import type { LogFormat } from './files.ts'

/**
 * What each document of a log becomes in a transcript. The codecs read only what a model would be
 * given now; an import needs the whole log, so each document is read by itself, and this file
 * handles the structure around them (branches, compactions, rollbacks).
 */
export type Reading =
  | { readonly kind: 'messages'; readonly messages: readonly Message[] }
  /** Replaces everything before it, except from the given document on. */
  | { readonly kind: 'compaction'; readonly text: string; readonly keptFrom: number | null }
  /** On an abandoned branch, or rolled back. */
  | { readonly kind: 'aside'; readonly messages: readonly Message[] }
  /** Not for the model. */
  | { readonly kind: 'silent' }

export interface LogFacts {
  /** The program's own session id; null: use the file's name. */
  readonly id: string | null
  readonly system: string | null
  readonly model: string | null
}

export interface LogReader {
  readonly codec: Codec
  facts(documents: readonly JsonObject[]): LogFacts
  read(documents: readonly JsonObject[]): readonly Reading[]
}

const SILENT: Reading = { kind: 'silent' }

export const LOG_READERS: { readonly [format in LogFormat]: LogReader } = {
  'claude-code': { codec: claudeCodeFormat, facts: () => NOTHING, read: readClaudeCode },
  codex: { codec: codexFormat, facts: codexFacts, read: readCodex },
  pi: { codec: piFormat, facts: piFacts, read: readPi },
}

const NOTHING: LogFacts = { id: null, system: null, model: null }

function messagesIn(codec: Codec, document: JsonObject): readonly Message[] {
  try {
    return codec.parse([document]).messages
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    // Nested too deeply to store as a value: kept as text.
    return [
      { role: 'user', synthetic: true, parts: [{ type: 'text', text: '(too deep to read)' }] },
    ]
  }
}

function told(messages: readonly Message[], isActive: boolean): Reading {
  if (messages.length === 0) return SILENT
  return { kind: isActive ? 'messages' : 'aside', messages }
}

function readClaudeCode(documents: readonly JsonObject[]): readonly Reading[] {
  // In the log of a sub-agent every line is marked as a side chain.
  const isAllBeside = documents.every((line) => line['isSidechain'] !== false)
  const lines = withQueuedPrompts(
    isAllBeside ? documents.map((line) => ({ ...line, isSidechain: false })) : documents,
  )
  const active = new Set<JsonObject>()
  let start = 0
  for (let at = 1; at <= lines.length; at++) {
    if (at < lines.length && !startsAfresh(lines[at])) continue
    for (const line of activeLines(lines.slice(start, at))) active.add(line)
    start = at
  }
  const positions = new Map<unknown, number>()
  for (const [at, { uuid }] of lines.entries()) if (uuid !== undefined) positions.set(uuid, at)
  return lines.map((line, index) => {
    const isActive = active.has(line)
    if (isActive && line['isCompactSummary'] === true) {
      const text = messagesIn(claudeCodeFormat, line).map(textOf).join('\n')
      const boundary = lines[positions.get(line['parentUuid']) ?? -1]
      let keptFrom: number | null = null
      for (const id of preservedIds(boundary)) {
        keptFrom = Math.min(positions.get(id) ?? index, keptFrom ?? index)
      }
      return { kind: 'compaction', text, keptFrom: keptFrom === index ? null : keptFrom }
    }
    return told(messagesIn(claudeCodeFormat, { ...line, isSidechain: false }), isActive)
  })
}

function startsAfresh(line: JsonObject | undefined): boolean {
  return line?.['isCompactSummary'] === true || line?.['subtype'] === 'compact_boundary'
}

function codexFacts(documents: readonly JsonObject[]): LogFacts {
  const [first] = documents
  const payload = isObject(first?.['payload']) ? first['payload'] : first
  const id = payload?.['id']
  const { messages, model } = codexFormat.parse(first === undefined ? [] : [first])
  const [system] = messages.filter(({ role }) => role === 'system')
  return {
    id: typeof id === 'string' ? id : null,
    system: system === undefined ? null : textOf(system),
    model: model ?? null,
  }
}

function readCodex(documents: readonly JsonObject[]): readonly Reading[] {
  const readings: Reading[] = []
  /** Indexes of the readings that can still be rolled back. */
  let standing: number[] = []
  for (const [at, line] of documents.entries()) {
    const payload = isObject(line['payload']) ? line['payload'] : {}
    if (line['type'] === 'compacted') {
      readings.push({ kind: 'compaction', text: summaryIn(payload), keptFrom: null })
      standing = []
      continue
    }
    if (payload['type'] === 'thread_rolled_back') {
      standing = rollBack(readings, standing, payload['num_turns'])
    }
    // The first document describes the session, including its instructions.
    const isHeader = at === 0 && readings.length === 0 && !('role' in line)
    const reading = isHeader && isAbout(line) ? SILENT : told(messagesIn(codexFormat, line), true)
    readings.push(reading)
    if (reading.kind === 'messages') standing.push(at)
  }
  return readings
}

function isAbout(line: JsonObject): boolean {
  return line['type'] === 'session_meta' || (!('type' in line) && typeof line['id'] === 'string')
}

/**
 * What the program continued with: the person's own requests and the summary or, without a readable
 * summary, the whole history.
 */
function summaryIn(payload: JsonObject): string {
  const { message, replacement_history: history } = payload
  const items = isArray(history) ? history.filter(isObject) : []
  const kept = items.flatMap((item) =>
    messagesIn(codexFormat, { type: 'response_item', payload: item }),
  )
  const isSummed = typeof message === 'string' && message !== ''
  const words = kept.filter((one) => !isSummed || (one.role === 'user' && one.synthetic !== true))
  return [...words.map(textOf), isSummed ? message : ''].filter((text) => text !== '').join('\n\n')
}

function rollBack(readings: Reading[], standing: readonly number[], turns: unknown): number[] {
  let left = typeof turns === 'number' ? turns : 0
  const kept = [...standing]
  while (left > 0 && kept.length > 0) {
    const at = kept.pop() ?? 0
    const reading = readings[at]
    if (reading?.kind !== 'messages') continue
    readings[at] = { ...reading, kind: 'aside' }
    if (reading.messages.some((one) => one.role === 'user' && !one.synthetic)) left -= 1
  }
  return kept
}

function piFacts(documents: readonly JsonObject[]): LogFacts {
  const header = documents.find((line) => line['type'] === 'session')
  const [id, model] = [header?.['id'], header?.['modelId']]
  return {
    id: typeof id === 'string' ? id : null,
    system: null,
    model: typeof model === 'string' ? model : null,
  }
}

function readPi(documents: readonly JsonObject[]): readonly Reading[] {
  const isTree = documents.some((line) => 'parentId' in line && 'id' in line)
  const positions = new Map<unknown, number>()
  for (const [at, { id }] of documents.entries()) if (typeof id === 'string') positions.set(id, at)
  const branch = new Set<number>()
  let at = isTree ? documents.findLastIndex(({ id, type }) => isPlaced(id, type)) : -1
  while (at >= 0 && !branch.has(at)) {
    branch.add(at)
    at = positions.get(documents[at]?.['parentId']) ?? -1
  }
  return documents.map((line, index) => {
    if (line['type'] === 'session') return SILENT
    const isActive = !isTree || branch.has(index)
    const text = line['summary']
    if (isActive && line['type'] === 'compaction' && typeof text === 'string') {
      const { firstKeptEntryId: id, firstKeptEntryIndex: place } = line
      const kept = typeof id === 'string' ? positions.get(id) : place
      return { kind: 'compaction', text, keptFrom: typeof kept === 'number' ? kept : null }
    }
    return told(messagesIn(piFormat, line), isActive)
  })
}

function isPlaced(id: unknown, type: unknown): boolean {
  return typeof id === 'string' && type !== 'session'
}
