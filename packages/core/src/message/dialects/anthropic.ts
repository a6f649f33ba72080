import { isArray, isObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import { anthropicFormat } from '../formats/anthropic/anthropic.ts'
import { sameFamilyOrigin } from '../formats/origin.ts'
import type { OpaquePart } from '../message.ts'
import { checkAnthropic } from './check/check-anthropic.ts'
import { withoutLooseReasoning } from './loose-reasoning.ts'
import { itemType, type ProviderDialect, type Wire, writeWith } from './provider-dialect.ts'
import { ANTHROPIC_CALL_ID, ANTHROPIC_NAME } from './rules.ts'

export const anthropicDialect: ProviderDialect = {
  name: 'anthropic',
  write: (messages) => joinTurns(writeWith(anthropicFormat, 'messages', messages)),
  check: checkAnthropic,
  accepts: {
    callId: ANTHROPIC_CALL_ID,
    toolName: ANTHROPIC_NAME,
    takesTurns: true,
    settle: withoutLooseReasoning,
    reasoning: ({ sealed }) => sealed?.provider === 'anthropic' && isSigned(sealed.value),
    reasoningAlone: true,
    fromUser: (part) => isBlock(part) && !isOneOf(part, [...READ_BLOCKS, 'server_tool_use']),
    fromAssistant: (part) => isBlock(part) && !isOneOf(part, [...READ_BLOCKS, 'image', 'document']),
    inResult: isBlock,
    objectInput: true,
    strictResults: true,
  },
}

/** Block types that our model reads: an opaque part of such a type is broken. */
const READ_BLOCKS = ['text', 'tool_use', 'tool_result', 'thinking', 'redacted_thinking']

function isOneOf(part: OpaquePart, types: readonly string[]): boolean {
  return types.includes(itemType(part))
}

function isBlock(part: OpaquePart): boolean {
  const isOwn = part.provider === 'anthropic' || sameFamilyOrigin(part, 'anthropic') !== undefined
  return isOwn && itemType(part) !== ''
}

function isSigned(value: JsonValue): boolean {
  if (!isObject(value)) return false
  const { type, thinking, signature, data } = value
  if (type === 'redacted_thinking') return typeof data === 'string' && data !== ''
  return (
    type === 'thinking' &&
    typeof thinking === 'string' &&
    typeof signature === 'string' &&
    signature !== ''
  )
}

/** Merges adjacent messages of one role: Anthropic wants results and the text after them in one. */
function joinTurns(wire: Wire): Wire {
  const turns: JsonObject[][] = []
  for (const message of wire['messages'] as readonly JsonObject[]) {
    const turn = turns.at(-1)
    if (turn?.[0]?.['role'] === message['role']) turn?.push(message)
    else turns.push([message])
  }
  const messages = turns.map((turn) => {
    const [first = {}] = turn
    if (turn.length === 1) return first
    return { role: first['role'] ?? '', content: turn.flatMap(({ content }) => blocksOf(content)) }
  })
  return { ...wire, messages }
}

function blocksOf(content: JsonValue | undefined): readonly JsonValue[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return isArray(content) ? content : []
}
