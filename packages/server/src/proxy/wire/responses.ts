import { isArray, isObject, type JsonObject, type JsonValue } from '#core/base/json'
import type { ResultPart } from '#core/message/message'
import { type ClientNote, kindOf, splitNotes } from '../client-notes.ts'
import {
  callUnit,
  opaqueItem,
  parsedCallUnit,
  textUnit,
  type Unit,
  withoutDeepLevels,
} from '../unit.ts'
import { countOf, textAt } from './fields.ts'
import type { ClientWire, ReadItem, ReplyReader, ReplyUsage, UpstreamReply } from './wire.ts'

/** OpenAI Responses. */
export const responsesWire: ClientWire = {
  list: 'input',
  read,
  writeHandoff: (text, notes) => {
    const part = (value: string) => ({ type: 'input_text', text: value })
    const content = [...notes.map((note) => part(note.text)), part(text)]
    return JSON.stringify({ type: 'message', role: 'user', content })
  },
  openReply: () => new ResponsesReply(),
}

/** The rank of the item in which Codex sends its tools to models that take no `tools` field. */
export const TOOLS_RANK = 'developer additional_tools'

function read(item: JsonObject): ReadItem {
  const { type, role } = item
  const isMessage = type === undefined || type === 'message'
  if (role === 'developer' || role === 'system') {
    const kind = isMessage ? kindOf(wholeText(item['content'])) : type
    return { units: [], notes: [], rank: `${role} ${kind}` }
  }
  if (isMessage) {
    const notes: ClientNote[] = []
    const speaker = role === 'assistant' ? 'assistant' : 'user'
    const units = partsOf(item['content']).flatMap((part) => spokenUnits(part, speaker, notes))
    return { units, notes }
  }
  return { units: itemUnits(item), notes: [] }
}

function itemUnits(item: JsonObject): readonly Unit[] {
  const id = textAt(item, 'call_id')
  switch (item['type']) {
    case 'function_call':
      return [callUnit(id, textAt(item, 'name'), textAt(item, 'arguments'))]
    case 'custom_tool_call': {
      const text = textAt(item, 'input')
      return [{ kind: 'call', id, name: textAt(item, 'name'), input: {}, inputText: text }]
    }
    case 'local_shell_call':
      return [parsedCallUnit(id, 'local_shell', item['action'] ?? {})]
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'local_shell_call_output':
      return [{ kind: 'result', id, output: outputParts(item['output']), isError: false }]
    case 'reasoning':
    case 'compaction_trigger':
    case 'item_reference':
      return []
    default: {
      const { id: _, status: __, ...rest } = item
      return [{ kind: 'block', role: 'assistant', part: opaqueItem('openai', rest) }]
    }
  }
}

function partsOf(content: JsonValue | undefined): readonly JsonObject[] {
  if (typeof content === 'string') return [{ type: 'input_text', text: content }]
  return isArray(content) ? content.filter(isObject) : []
}

function wholeText(content: JsonValue | undefined): string {
  return partsOf(content)
    .map((part) => textAt(part, 'text'))
    .join('\n')
}

function spokenUnits(
  part: JsonObject,
  role: 'user' | 'assistant',
  notes: ClientNote[],
): readonly Unit[] {
  const { type } = part
  if (type === 'input_text' || type === 'output_text' || type === 'text') {
    if (role === 'assistant') return textUnit(role, textAt(part, 'text'))
    const split = splitNotes(textAt(part, 'text'))
    notes.push(...split.notes)
    return textUnit(role, split.text)
  }
  return [{ kind: 'block', role, part: imagePart(part) }]
}

const DATA_URL = /^data:([\w.+-]{1,60}\/[\w.+-]{1,60});base64,/

export function imagePart(part: JsonObject): ResultPart {
  const { image_url: image } = part
  const url = isObject(image) ? textAt(image, 'url') : textAt(part, 'image_url')
  const [start, mediaType] = DATA_URL.exec(url.slice(0, 200)) ?? []
  if (start === undefined || mediaType === undefined) return opaqueItem('openai', part)
  const source = { kind: 'base64', mediaType, data: url.slice(start.length) } as const
  return { type: 'image', source }
}

export function outputParts(output: JsonValue | undefined): readonly ResultPart[] {
  if (typeof output === 'string') return output === '' ? [] : [{ type: 'text', text: output }]
  if (!isArray(output)) return output === undefined ? [] : [textOf(output)]
  return output.filter(isObject).map((part) => {
    const text = part['text']
    return typeof text === 'string' ? { type: 'text', text } : imagePart(part)
  })
}

function textOf(value: JsonValue): ResultPart {
  return { type: 'text', text: JSON.stringify(withoutDeepLevels(value)) }
}

class ResponsesReply implements ReplyReader {
  readonly #items: JsonObject[] = []
  /** Of the message that is being written. */
  #text = ''
  #usage: ReplyUsage | null = null
  #isWhole = false

  take(event: JsonObject): void {
    switch (event['type']) {
      case 'response.output_text.delta':
        this.#text += textAt(event, 'delta')
        return
      case 'response.output_item.done':
        if (isObject(event['item'])) this.#items.push(event['item'])
        this.#text = ''
        return
      case 'response.completed':
      case 'response.incomplete':
        this.#isWhole = true
        if (isObject(event['response'])) this.#count(event['response']['usage'])
        return
      case undefined:
        // A whole document.
        if (event['object'] !== 'response') return
        this.#items.push(...partsOf(event['output']))
        this.#count(event['usage'])
        this.#isWhole = true
        return
      default:
        return
    }
  }

  reply(): UpstreamReply {
    const units = this.#items.flatMap((item) => read(item).units)
    const partial = textUnit('assistant', this.#text)
    return { units: [...units, ...partial], isWhole: this.#isWhole, usage: this.#usage }
  }

  #count(usage: JsonValue | undefined): void {
    if (!isObject(usage)) return
    const details = usage['input_tokens_details']
    this.#usage = {
      inputTokens: countOf(usage['input_tokens']),
      cachedTokens: isObject(details) ? countOf(details['cached_tokens']) : 0,
      cacheWriteTokens: 0,
      outputTokens: countOf(usage['output_tokens']),
    }
  }
}
