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
 * Writes a Claude Code file with only the given messages. Lines are chained again, because their
 * parents may be gone. The program starts reading at the newest line marked as a summary, so only
 * the first spoken line may carry the mark: a handoff there gets it, and an older summary that is
 * no longer first loses it.
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
  // New lines copy the time of the preceding line; the first ones, the first time in the file.
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

/** The fields that new lines share with the existing ones. */
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

/** Undefined if the format cannot express any part of the item. */
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
