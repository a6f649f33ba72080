import { isObject, type JsonObject } from '../../base/json.ts'
import type { Request } from './document.ts'
import { asList } from './origin.ts'

/**
 * Signs that distinguish the four request formats. They share roles and plain text, so most short
 * conversations fit all four. The first sign found in a single pass decides; without any, OpenAI
 * chat is assumed, as the most common.
 */
type Language = 'openai-chat' | 'openai-responses' | 'anthropic' | 'ai-sdk'

type Signs = ReadonlyMap<Language, string>

function findSigns(request: Request): Signs {
  const signs = new Map<Language, string>()
  const key = request.wrapper?.key ?? 'item'
  const note = (language: Language | undefined, what: () => string) => {
    if (language !== undefined && !signs.has(language)) signs.set(language, what())
  }
  for (const [index, item] of request.items.entries()) {
    if (!isObject(item)) continue
    note(signOfItem(item), () => `${key} ${index}`)
    for (const [number, part] of asList(item['content']).entries()) {
      if (!isObject(part)) continue
      note(signOfPart(part), () => `${key} ${index}, part ${number} (${String(part['type'])})`)
    }
  }
  return signs
}

/** Why the document is probably another format, unless it also has signs of this one. */
export function doubtBySigns(request: Request | undefined, own: Language): string | undefined {
  if (request === undefined) return undefined
  const signs = findSigns(request)
  const [foreign] = signs
  if (foreign === undefined || signs.has(own)) return undefined
  return `${foreign[1]} is spelled as in ${foreign[0]}`
}

function signOfItem(item: JsonObject): Language | undefined {
  const { role, type, content } = item
  if ('providerOptions' in item) return 'ai-sdk'
  if (role === undefined) return typeof type === 'string' ? 'openai-responses' : undefined
  if (type === 'message' && typeof content === 'string') return 'openai-responses'
  if ('tool_calls' in item || 'function_call' in item || 'tool_call_id' in item) {
    return 'openai-chat'
  }
  return role === 'function' ? 'openai-chat' : undefined
}

function signOfPart(part: JsonObject): Language | undefined {
  if ('providerOptions' in part) return 'ai-sdk'
  switch (part['type']) {
    case 'image_url':
    case 'input_audio':
      return 'openai-chat'
    case 'input_text':
    case 'output_text':
    case 'input_image':
    case 'input_file':
      return 'openai-responses'
    case 'tool_use':
    case 'tool_result':
    case 'thinking':
    case 'redacted_thinking':
    case 'server_tool_use':
    case 'compaction':
      return 'anthropic'
    case 'document':
      return isObject(part['source']) ? 'anthropic' : undefined
    case 'tool-call':
    case 'tool-result':
    case 'reasoning':
      return 'ai-sdk'
    case 'image':
      return isObject(part['source']) ? 'anthropic' : signOf('image' in part, 'ai-sdk')
    case 'file':
      return isObject(part['file']) ? 'openai-chat' : signOf('mediaType' in part, 'ai-sdk')
    default:
      return undefined
  }
}

function signOf(present: boolean, language: Language): Language | undefined {
  return present ? language : undefined
}

/** A request object with a separate system prompt is not OpenAI chat. */
export function doubtBySystem(request: Request | undefined, own: Language): string | undefined {
  if (request === undefined) return undefined
  const system = request.wrapper?.fields['system']
  if (typeof system !== 'string' && !Array.isArray(system)) return undefined
  if (findSigns(request).has(own)) return undefined
  return 'the request has a "system" beside its messages, as in anthropic'
}
