import type { JsonValue } from '../../../base/json.ts'
import type { FormatName } from '../../codec.ts'
import type { Message, Origin, Part, ToolResultPart, UserPart } from '../../message.ts'
import { readContent } from '../content.ts'
import { type Item, itemsOf, type PlainMessage } from '../openai-responses/items.ts'
import { originOf, type Place } from '../origin.ts'
import { readUserBlock } from './blocks.ts'

/**
 * One user message of Anthropic's may hold tool results and words. With us these are two messages
 * of one origin, results first; where the source had another order, the shape remembers it.
 */
export function readUser(
  content: JsonValue | undefined,
  place: Place,
  fields: Origin['fields'],
): readonly Message[] {
  const { parts, spelling } = readContent(content, place, (block) => readUserBlock(block, place))
  const results: ToolResultPart[] = []
  const words: UserPart[] = []
  const order: [number[], number[]] = [[], []]
  for (const [index, part] of parts.entries()) {
    if (part.type === 'tool-result') results.push(part)
    else words.push(part)
    order[part.type === 'tool-result' ? 0 : 1].push(index)
  }
  const places = order.flat()
  const isMixed = places.some((place, index) => place !== index)
  const origin = originOf(place.format, place.at, fields, spelling, isMixed && `order:${places}`)
  if (results.length === 0) return [{ role: 'user', parts: words, origin }]
  const tool: Message = { role: 'tool', parts: results, origin }
  return words.length === 0 ? [tool] : [tool, { role: 'user', parts: words, origin }]
}

/** The items to write: results and the words behind them together where they were one item. */
export function joinUsers(messages: readonly PlainMessage[], format: FormatName): readonly Item[] {
  const joined: Item[] = []
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

function inPlace(results: Item, words: Item): readonly Part[] {
  const parts = [...results.parts, ...words.parts]
  const order = /order:([\d,]+)/.exec(results.origin?.shape ?? '')?.[1]?.split(',')
  if (order?.length !== parts.length) return parts
  const placed = [...parts]
  for (const [index, part] of parts.entries()) placed[Number(order[index])] = part
  return placed
}
