import { isArray, type JsonObject, type JsonValue } from '../../base/json.ts'
import { anthropicFormat } from '../formats/anthropic/anthropic.ts'
import { checkAnthropic } from './check/check-anthropic.ts'
import { type ProviderDialect, type Wire, writeWith } from './provider-dialect.ts'

export const anthropicDialect: ProviderDialect = {
  name: 'anthropic',
  write: (messages) => joinTurns(writeWith(anthropicFormat, 'messages', messages)),
  check: checkAnthropic,
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
