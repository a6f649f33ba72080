import { isObject, type JsonObject, type JsonValue } from '#core/base/json'
import type { Message, Origin, ResultPart, ToolResultPart } from '#core/message/message'
import type { Entry } from '#core/store/tables/rows'

/** The message that an entry was made from; null if it is not one, or was erased. */
export function storedMessage(entry: Entry): Message | null {
  if (entry.body === null) return null
  const body = JSON.parse(entry.body) as JsonValue
  switch (entry.kind) {
    case 'input':
      return isObject(body) && isObject(body['message']) ? asMessage(body['message']) : null
    case 'assistant':
      return isObject(body) ? asMessage(body) : null
    case 'result':
      return { role: 'tool', parts: [resultPart(body, entry.meta)] }
    case 'turn':
      return isObject(body) && isObject(body['aside']) ? asMessage(body['aside']) : null
    default:
      return null
  }
}

/**
 * A result's body is only its output; the other fields of the foreign row are kept with the first
 * part, as the origin after that part's own.
 */
export function resultBody(
  part: ToolResultPart | undefined,
  place: Pick<Origin, 'format' | 'at'>,
): JsonValue {
  const [first = { type: 'text', text: '' }, ...others] = part?.output ?? []
  const own: Origin = { ...place, ...first.origin }
  const origin: Origin = part?.origin === undefined ? own : { ...own, others: [part.origin] }
  return [{ ...first, origin } as ResultPart, ...others] as unknown as JsonValue
}

function resultPart(
  body: JsonValue,
  { call: callId, outcome }: { readonly call: string; readonly outcome: string },
): ToolResultPart {
  const output: readonly ResultPart[] = Array.isArray(body)
    ? (body as unknown as readonly ResultPart[])
    : [{ type: 'text', text: typeof body === 'string' ? body : JSON.stringify(body) }]
  const origin = output[0]?.origin?.others?.[0]
  return {
    ...{ type: 'tool-result', callId, output },
    ...(outcome !== 'ok' && { isError: true }),
    ...(origin !== undefined && { origin }),
  }
}

function asMessage(body: JsonObject): Message {
  return body as unknown as Message
}
