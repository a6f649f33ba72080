import { isObject, type JsonObject, type JsonValue } from '../../../base/json.ts'
import type { Conversation } from '../../codec.ts'
import { findHandoff } from '../../handoff/envelope.ts'
import { writeBlock } from '../anthropic/blocks.ts'
import { joinUsers } from '../anthropic/user.ts'
import { isLost, spellingOf, writeContent } from '../content.ts'
import { derivedUuid, NO_TIME } from '../derived-id.ts'
import { type PlainMessage, plain, type ResponsesItem } from '../openai-responses/items.ts'
import { textField, without } from '../origin.ts'

/**
 * Writes a Claude Code file that holds just the given messages. Lines are chained again, because
 * their parents may be gone. The program starts reading at the newest line that is marked as a
 * summary, so only the first one that is spoken may be: a handoff gets the mark there, and an older
 * summary that no longer leads loses it.
 */
const FORMAT = 'claude-code'

export function writeLines(conversation: Conversation): JsonValue {
  // An earlier step that made the messages fit a provider may have expanded the handoff already.
  const messages = findHandoff(conversation.messages)
  const written = messages.map((message) => plain(message, FORMAT))
  const lead = messages.findIndex(({ role }) => role !== 'system')
  const summary = messages[lead]?.role === 'handoff' ? written[lead] : undefined
  const items = joinUsers(written, FORMAT)
  const session = sessionOf(items)
  const lines: JsonObject[] = []
  const used = new Set<string>()
  let parentUuid: string | null = null
  // New lines take the time of the line before them; the first ones, of the first that has one.
  let timestamp = messages.find(({ at }) => at !== undefined)?.at ?? NO_TIME
  for (const item of items) {
    const { message, origin } = item
    const said = writeSaid(item)
    if (said === undefined) continue
    const { message: _, ...own } = origin?.fields ?? {}
    timestamp = textField(own, 'timestamp') ?? message.at ?? timestamp
    const kept = textField(own, 'uuid')
    const isKept = kept !== undefined && !used.has(kept)
    const uuid: string = isKept ? kept : derivedUuid(parentUuid ?? '', used.size, timestamp)
    used.add(uuid)
    const isLead = message === written[lead]
    lines.push({
      parentUuid,
      ...(origin === undefined && { ...session, timestamp }),
      ...(isLead || message.role === 'assistant' ? own : withoutMark(own)),
      ...(message === summary ? { isCompactSummary: true } : marksOf(item)),
      uuid,
      ...said,
    })
    parentUuid = uuid
  }
  return lines
}

/** What new lines share with the file's own. */
function sessionOf(items: readonly ResponsesItem[]): JsonObject {
  const known = items.find(({ origin }) => origin !== undefined)?.origin?.fields ?? {}
  const keys = ['sessionId', 'version', 'cwd', 'gitBranch', 'userType']
  const shared = Object.entries(known).filter(([key]) => keys.includes(key))
  const sessionId = derivedUuid(FORMAT, items.length)
  return { isSidechain: false, sessionId, ...Object.fromEntries(shared) }
}

function withoutMark(fields: JsonObject): JsonObject {
  if (fields['isCompactSummary'] !== true) return fields
  return { ...without(fields, ['isCompactSummary']), isMeta: true }
}

function marksOf({ message, origin }: ResponsesItem): JsonObject {
  return origin === undefined && message.role === 'user' && message.synthetic
    ? { isMeta: true }
    : {}
}

/** Nothing where nothing of the item can be said. */
function writeSaid({ message, origin, parts }: ResponsesItem): JsonObject | undefined {
  const usual = message.role === 'user' || message.role === 'system' ? 'string' : 'parts'
  const content = writeContent(parts, spellingOf(origin, usual), FORMAT, (part) =>
    writeBlock(part, FORMAT),
  )
  if (isLost(content, parts)) return undefined
  const body = content === undefined ? {} : { content }
  if (message.role === 'system') return { type: 'system', subtype: 'system_prompt', ...body }
  const inner = origin?.fields?.['message']
  const facts = origin === undefined ? freshFacts(message) : isObject(inner) ? inner : {}
  const role = message.role === 'assistant' ? 'assistant' : 'user'
  return { type: role, message: { ...facts, role, ...body } }
}

function freshFacts(message: PlainMessage): JsonObject {
  if (message.role !== 'assistant') return {}
  const { model, usage } = message
  return {
    type: 'message',
    ...(model !== undefined && { model }),
    ...(usage && {
      usage: { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens },
    }),
  }
}
