import type { JsonValue } from '../../../base/json.ts'
import type { Message, Origin, Part, ToolResultPart, UserPart } from '../../message.ts'
import { readContent } from '../content.ts'
import type { CodecName } from '../names.ts'
import { itemsOf, type PlainMessage, type ResponsesItem } from '../openai-responses/items.ts'
import { originOf, type Position } from '../origin.ts'
import { readUserBlock } from './blocks.ts'

/**
 * An Anthropic user message may contain tool results and text. We read it as two messages with one
 * origin, results first; if the source had another order, the origin's shape records it.
 */
export function readUser(
  content: JsonValue | undefined,
  position: Position,
  fields: Origin['fields'],
): readonly Message[] {
  const { parts, spelling } = readContent(content, position, (block) =>
    readUserBlock(block, position),
  )
  return splitResults(parts, position, fields, spelling)
}

/** Splits the results and the text of one item into two messages with the same origin. */
export function splitResults(
  parts: readonly (UserPart | ToolResultPart)[],
  position: Position,
  fields: Origin['fields'],
  ...shape: readonly (string | undefined)[]
): readonly Message[] {
  const results: ToolResultPart[] = []
  const words: UserPart[] = []
  const order: [number[], number[]] = [[], []]
  for (const [index, part] of parts.entries()) {
    if (part.type === 'tool-result') results.push(part)
    else words.push(part)
    order[part.type === 'tool-result' ? 0 : 1].push(index)
  }
  const positions = order.flat()
  const isMixed = positions.some((position, index) => position !== index)
  const origin = originOf(
    position.format,
    position.at,
    fields,
    ...shape,
    isMixed && `order:${positions}`,
  )
  if (results.length === 0) return [{ role: 'user', parts: words, origin }]
  const tool: Message = { role: 'tool', parts: results, origin }
  return words.length === 0 ? [tool] : [tool, { role: 'user', parts: words, origin }]
}

/** The items to write: results and the text after them are joined if they came from one item. */
export function joinUsers(
  messages: readonly PlainMessage[],
  format: CodecName,
): readonly ResponsesItem[] {
  const joined: ResponsesItem[] = []
  for (const item of messages.flatMap((message) => itemsOf(message, format))) {
    const last = joined.at(-1)
    const belongs =
      last?.message.role === 'tool' &&
      item.message.role === 'user' &&
      item.origin !== undefined &&
      item.origin.at === last.origin?.at
    if (belongs) joined[joined.length - 1] = { ...last, parts: inPlace(last, item) }
    else joined.push(item)
  }
  return joined
}

function inPlace(results: ResponsesItem, words: ResponsesItem): readonly Part[] {
  const parts = [...results.parts, ...words.parts]
  const order = /order:([\d,]+)/.exec(results.origin?.shape ?? '')?.[1]?.split(',')
  if (order?.length !== parts.length) return parts
  const ordered = [...parts]
  for (const [index, part] of parts.entries()) ordered[Number(order[index])] = part
  return ordered
}
