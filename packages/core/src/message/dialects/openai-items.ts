import { isObject, type JsonObject } from '../../base/json.ts'
import { isOpaqueItem } from '../formats/openai-responses/parts.ts'
import type { AssistantPart, Message } from '../message.ts'
import { word } from './findings.ts'
import { keepParts } from './parts.ts'
import { fits, OPENAI_NAME } from './rules.ts'

/**
 * OpenAI's own items (sealed reasoning, searches, compactions, computer calls) are sent back
 * unchanged, except those for which it would refuse the whole request: broken copies of items that
 * our model reads, a second item with the same id, a call without its output or the reverse.
 */
export function withoutBrokenItems(messages: readonly Message[]): readonly Message[] {
  const broken = findBrokenPairs(messages)
  const seen = new Set<string>()
  const isReturnable = (part: AssistantPart): boolean => {
    const item = itemOf(part)
    if (item === undefined) return part.type !== 'reasoning' && part.type !== 'opaque'
    const { id, call_id: callId } = item
    if (isOutput(item) || isCall(item)) return typeof callId === 'string' && !broken.has(callId)
    if (typeof id !== 'string') return true
    const isFirst = !seen.has(id)
    seen.add(id)
    return isFirst
  }
  return messages.map((message) =>
    message.role === 'assistant' ? keepParts(message, isReturnable) : message,
  )
}

/** Whether a part is sent as the output of a call; reasoning before it has no reply after it. */
export function isOutputItem(part: AssistantPart): boolean {
  const item = itemOf(part)
  return item !== undefined && isOutput(item)
}

/** Item types that our model reads: an opaque part of such a type is broken. */
const READ_TYPES = new Set([
  'message',
  'reasoning',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'local_shell_call',
  'local_shell_call_output',
])

function itemOf(part: AssistantPart): JsonObject | undefined {
  if (part.type === 'reasoning') {
    const value = part.sealed?.provider === 'openai' ? part.sealed.value : undefined
    return isObject(value) && value['type'] === 'reasoning' ? value : undefined
  }
  if (!isOpaqueItem(part, 'openai-responses') || !isObject(part.value)) return undefined
  const { type } = part.value
  return typeof type === 'string' && !READ_TYPES.has(type) ? part.value : undefined
}

function isOutput(item: JsonObject): boolean {
  return word(item['type']).endsWith('_output')
}

/** Calls that the provider runs itself have no `call_id` and need no output item. */
function isCall(item: JsonObject): boolean {
  return word(item['type']).endsWith('_call') && item['call_id'] !== undefined
}

/** Call ids that do not have exactly one call followed by one output. */
function findBrokenPairs(messages: readonly Message[]): ReadonlySet<string> {
  const broken = new Set<string>()
  const stages = new Map<string, 'called' | 'answered'>()
  const callIdsById = new Map<string, string | undefined>()
  for (const message of messages) {
    if (message.role !== 'assistant') continue
    for (const part of message.parts) {
      if (part.type === 'tool-call') broken.add(part.id)
      const item = itemOf(part)
      if (item === undefined) continue
      const isPaired = isOutput(item) || isCall(item)
      const callId = isPaired && typeof item['call_id'] === 'string' ? item['call_id'] : undefined
      const id = item['id']
      if (typeof id === 'string') {
        const other = callIdsById.get(id)
        if (callIdsById.has(id)) for (const each of [other, callId]) if (each) broken.add(each)
        callIdsById.set(id, callId)
      }
      if (callId === undefined) continue
      const expected = isOutput(item) ? 'called' : undefined
      const isLegal = fits(callId, OPENAI_NAME)
      if (stages.get(callId) !== expected || !isLegal) broken.add(callId)
      stages.set(callId, isOutput(item) ? 'answered' : 'called')
    }
  }
  for (const [callId, stage] of stages) if (stage === 'called') broken.add(callId)
  return broken
}
