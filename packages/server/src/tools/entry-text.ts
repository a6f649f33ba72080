import { isObject, type JsonValue } from '#core/base/json'
import type { AssistantMessage, ResultPart, UserMessage } from '#core/message/message'
import { textOf } from '#core/message/text'
import type { Entry } from '#core/store/tables/rows'

/** An entry as plain text; an erased one says so. */
export function entryText(entry: Entry): string {
  if (entry.body === null) return '[erased]'
  const body = JSON.parse(entry.body) as JsonValue
  switch (entry.kind) {
    case 'input':
      return isObject(body) && isObject(body['message'])
        ? textOf(body['message'] as unknown as UserMessage)
        : plain(body)
    case 'assistant':
      return isObject(body) ? textOf(body as unknown as AssistantMessage) : plain(body)
    case 'result':
      return Array.isArray(body)
        ? (body as readonly ResultPart[]).map(textOf).filter(Boolean).join('\n')
        : plain(body)
    case 'compaction':
      return isObject(body) && typeof body['summary'] === 'string' ? body['summary'] : plain(body)
    case 'turn':
      return `turn ${entry.meta.turn} ended: ${entry.meta.ended}`
    default:
      return plain(body)
  }
}

function plain(body: JsonValue): string {
  return typeof body === 'string' ? body : JSON.stringify(body)
}

/** Who speaks, for people and models. */
export function entryLabel(entry: Entry): string {
  const at = `${new Date(entry.at).toISOString().slice(0, 16)}Z`
  return `#${entry.number} ${nameOf(entry)}, ${at}`
}

function nameOf(entry: Entry): string {
  switch (entry.kind) {
    case 'input':
      return entry.meta.lane === 'user' ? 'person' : 'notification'
    case 'assistant':
      return 'you'
    case 'result':
      return `result of ${entry.meta.call}`
    default:
      return entry.kind
  }
}
