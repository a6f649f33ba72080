import { isObject, type JsonObject, type JsonValue } from '../../../base/json.ts'
import type { Codec, Conversation } from '../../codec.ts'
import { findHandoff } from '../../handoff/envelope.ts'
import type { Message, Origin, SystemMessage, UserMessage } from '../../message.ts'
import { derivedUuid, NO_TIME } from '../derived-id.ts'
import { conversationOf } from '../document.ts'
import { plain } from '../openai-responses/items.ts'
import { type Line, readItems, writeItems } from '../openai-responses/write-items.ts'
import { asList, hasWord, originOf, ownOrigin, textField, without } from '../origin.ts'

/**
 * Codex's rollout files. Since autumn 2025 every line is `{timestamp, type, payload}`; before,
 * lines were plain Responses items after a first line about the session. The context is the history
 * of the newest `compacted` line and the items after it.
 */
const FORMAT = 'codex'

interface Entry {
  readonly item: JsonValue
  /** Null for an item inside a compacted history. */
  readonly line: Line
}

export const codexFormat: Codec = {
  name: FORMAT,
  framing: 'lines',

  reject(document) {
    const lines = asList(document).filter(isObject)
    if (lines.some((line) => line['type'] === 'session_meta' || isNewItem(line))) return undefined
    const [first] = lines
    const isOld = first !== undefined && isOldHeader(first) && lines.slice(1).every(isOldLine)
    return isOld ? undefined : 'no line is a session_meta or response_item of a rollout'
  },

  parse(document) {
    const lines = asList(document).filter(isObject)
    const header = lines.filter((line, index) => isHeader(line, index)).slice(0, 1)
    const entries: Entry[] = []
    // The requests that an earlier compaction left at the beginning.
    let asks = 0
    let model: string | undefined
    for (const line of lines) {
      const payload = isObject(line['payload']) ? line['payload'] : {}
      if (isNewItem(line))
        entries.push({ item: payload, line: without(line, ['type', 'payload']) ?? {} })
      else if (isOldItem(line)) entries.push({ item: line, line: {} })
      else if (line['type'] === 'compacted') asks = replace(entries, asks, payload)
      else if (line['type'] === 'turn_context') model = textField(payload, 'model') ?? model
      else if (payload['type'] === 'thread_rolled_back') {
        rollBack(entries, payload['num_turns'])
        asks = Math.min(asks, entries.length)
      }
    }
    const items = entries.map(({ item }) => item)
    const messages = readItems(items, FORMAT, (at) => entries[at]?.line).map(withFacts)
    return conversationOf(FORMAT, [...instructionsOf(header[0]), ...messages], { header, model })
  },

  format(conversation) {
    const [header = freshHeader(conversation)] = conversation.header ?? []
    // An earlier step that made the messages fit a provider may have expanded the handoff already.
    const messages = findHandoff(conversation.messages)
    const entries = messages.flatMap(writeEntries)
    // The old form has plain lines, and no way to mark a compaction.
    if (isObject(header) && !('payload' in header))
      return [header, ...entries.map(({ item }) => item)]

    const behind = entries.findIndex(({ isCompacted }) => !isCompacted)
    const head = behind === -1 ? entries : entries.slice(0, behind)
    let timestamp = (isObject(header) && textField(header, 'timestamp')) || NO_TIME
    const rest = entries.slice(head.length).map(({ item, line, at }) => {
      timestamp = (line && textField(line, 'timestamp')) ?? at ?? timestamp
      return { ...(line ?? { timestamp }), type: 'response_item', payload: item }
    })
    const summary = messages.find(({ role }) => role === 'handoff')
    const message = summary?.role === 'handoff' ? summary.handoff.summary : ''
    const history = head.map(({ item }) => item)
    const payload = { message, replacement_history: history }
    const compacted = head.length === 0 ? [] : [{ timestamp, type: 'compacted', payload }]
    return [header, ...compacted, ...rest]
  },
}

function isHeader(line: JsonObject, index: number): boolean {
  return line['type'] === 'session_meta' || (index === 0 && isOldHeader(line))
}

function isOldHeader(line: JsonObject): boolean {
  return (
    typeof line['id'] === 'string' && 'timestamp' in line && !('type' in line) && !('role' in line)
  )
}

function isOldLine(line: JsonObject): boolean {
  return isOldItem(line) || 'record_type' in line
}

function isOldItem(line: JsonObject): boolean {
  return typeof line['type'] === 'string' && !('payload' in line) && OLD_ITEM.test(line['type'])
}

const OLD_ITEM = /^(?:message|reasoning|item_reference|compaction|[a-z_]{1,40}_call(?:_output)?)$/

function isNewItem(line: JsonObject): boolean {
  return line['type'] === 'response_item' && isObject(line['payload'])
}

/**
 * The history after a compaction: as recorded, or rebuilt as older versions of Codex did, which kept
 * every request. Leaves alone those that an earlier compaction has kept, and returns how many are kept.
 */
function replace(entries: Entry[], asks: number, payload: JsonObject): number {
  const history = payload['replacement_history']
  if (Array.isArray(history)) {
    entries.length = 0
    for (const item of asList(history)) entries.push({ item, line: null })
    return 0
  }
  const kept = entries.splice(asks).filter(({ item }) => isAsk(item))
  for (const { item } of kept) entries.push({ item, line: null })
  const content = [{ type: 'input_text', text: textField(payload, 'message') ?? '' }]
  entries.push({ item: { type: 'message', role: 'user', content }, line: null })
  return asks + kept.length
}

/** Undoing n turns removes everything from the n-th last request on. */
function rollBack(entries: Entry[], turns: JsonValue | undefined): void {
  let left = typeof turns === 'number' ? turns : 0
  let cut = entries.length
  while (left > 0 && cut > 0) {
    cut--
    if (isAsk(entries[cut]?.item)) left--
  }
  entries.length = cut
}

function isAsk(item: JsonValue | undefined): boolean {
  if (!isObject(item) || item['role'] !== 'user') return false
  const [first] = asList(item['content'])
  const text = isObject(first) ? first['text'] : undefined
  return typeof text !== 'string' || !NOTICE.test(text)
}

/** Texts that Codex writes in the user role: environment, instructions, earlier summaries. */
const NOTICE =
  /^(?:<(?:environment_context|user_instructions|turn_aborted|subagent_notification|permissions)|# AGENTS\.md instructions|Another language model started to solve this problem)/

function withFacts(message: Message): Message {
  const line = ownOrigin(message, FORMAT)?.fields?.['line']
  const at = isObject(line) ? textField(line, 'timestamp') : undefined
  const timed = at === undefined ? message : { ...message, at }
  return timed.role === 'user' && isNotice(timed) ? { ...timed, synthetic: true } : timed
}

function isNotice(message: UserMessage): boolean {
  const [first] = message.parts
  return first?.type === 'text' && NOTICE.test(first.text)
}

function instructionsOf(header: JsonObject | undefined): readonly SystemMessage[] {
  const payload = isObject(header?.['payload']) ? header['payload'] : header
  const base = payload?.['base_instructions']
  const text = (isObject(base) ? base['text'] : undefined) ?? payload?.['instructions']
  if (typeof text !== 'string' || text === '') return []
  const origin = originOf(FORMAT, -1, undefined, 'outside')
  return [{ role: 'system', parts: [{ type: 'text', text }], origin }]
}

interface Written extends Entry {
  readonly at: string | undefined
  readonly isCompacted: boolean
}

function writeEntries(message: Message): readonly Written[] {
  // The session's instructions are in the header, which is written unchanged.
  if (hasWord(ownOrigin(message, FORMAT), 'outside')) return []
  return writeItems(plain(message, FORMAT), FORMAT).map(({ item, origin }) => {
    const isCompacted = message.role === 'handoff' || origin?.fields?.['line'] === null
    return { item, line: lineOf(origin), at: message.at, isCompacted }
  })
}

function lineOf(origin: Origin | undefined): Line {
  const line = origin?.fields?.['line']
  return isObject(line) ? line : null
}

function freshHeader({ messages, model }: Conversation): JsonObject {
  const timestamp = messages.find(({ at }) => at !== undefined)?.at ?? NO_TIME
  const id = derivedUuid(FORMAT, messages.length, timestamp, model ?? '')
  const payload = { id, timestamp, cwd: '', originator: 'throughline', cli_version: '0.0.0' }
  return { timestamp, type: 'session_meta', payload }
}
