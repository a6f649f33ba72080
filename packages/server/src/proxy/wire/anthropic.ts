import { isArray, isObject, type JsonObject, type JsonValue } from '#core/base/json'
import type { ResultPart } from '#core/message/message'
import { type ClientNote, kindOf, splitNotes, splitTags } from '../client-notes.ts'
import { callUnit, opaqueItem, parsedCallUnit, textUnit, type Unit } from '../unit.ts'
import { countOf, textAt } from './fields.ts'
import type { ClientWire, ReadItem, ReplyReader, ReplyUsage, UpstreamReply } from './wire.ts'

/** Anthropic Messages. */
export const anthropicWire: ClientWire = {
  list: 'messages',
  read,
  writeHandoff: (text, notes) => {
    const block = (value: string) => ({ type: 'text', text: value })
    const content = [...notes.map((note) => block(note.text)), block(text)]
    return JSON.stringify({ role: 'user', content })
  },
  openReply: () => new AnthropicReply(),
}

function read(item: JsonObject): ReadItem {
  const { role, content } = item
  if (role === 'system') return { units: [], notes: systemNotes(content) }
  const isAssistant = role === 'assistant'
  const units: Unit[] = []
  const notes: ClientNote[] = []
  const blocks: number[] = []
  for (const [index, block] of blocksOf(content).entries()) {
    const found = isAssistant ? assistantUnits(block) : userUnits(block, notes)
    for (const unit of found) {
      units.push(unit)
      blocks.push(index)
    }
  }
  const isDivisible = !isAssistant && isArray(content)
  return { units, notes, ...(isDivisible && { blocks }) }
}

function blocksOf(content: JsonValue | undefined): readonly JsonObject[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return isArray(content) ? content.filter(isObject) : []
}

function systemNotes(content: JsonValue | undefined): ClientNote[] {
  return blocksOf(content).flatMap((block) => {
    const text = textAt(block, 'text')
    return text === '' ? [] : [{ kind: kindOf(text), text }]
  })
}

function userUnits(block: JsonObject, notes: ClientNote[]): readonly Unit[] {
  switch (block['type']) {
    case 'text': {
      const split = splitNotes(textAt(block, 'text'))
      notes.push(...split.notes)
      return textUnit('user', split.text)
    }
    case 'tool_result': {
      const output = blocksOf(block['content']).flatMap(resultPart)
      const isError = block['is_error'] === true
      return [{ kind: 'result', id: textAt(block, 'tool_use_id'), output, isError }]
    }
    default:
      return [{ kind: 'block', role: 'user', part: mediaPart(block) }]
  }
}

function assistantUnits(block: JsonObject): readonly Unit[] {
  switch (block['type']) {
    case 'text':
      return textUnit('assistant', textAt(block, 'text'))
    case 'tool_use':
      return [parsedCallUnit(textAt(block, 'id'), textAt(block, 'name'), block['input'] ?? {})]
    case 'thinking':
    case 'redacted_thinking':
      return []
    default:
      return [{ kind: 'block', role: 'assistant', part: opaqueItem('anthropic', block) }]
  }
}

/**
 * Notes in a result are no part of its identity: the client changes them. A handoff does not repeat
 * them, because a program can write the same tag, and its words must not become the user's.
 */
function resultPart(block: JsonObject): ResultPart[] {
  if (block['type'] !== 'text') return [mediaPart(block)]
  const text = splitTags(textAt(block, 'text')).text.trim()
  return text === '' ? [] : [{ type: 'text', text }]
}

function mediaPart(block: JsonObject): ResultPart {
  const { type, source } = block
  const isMedia = (type === 'image' || type === 'document') && isObject(source)
  if (!isMedia || source['type'] !== 'base64') return opaqueItem('anthropic', block)
  const mediaType = textAt(source, 'media_type')
  const media = { kind: 'base64', mediaType, data: textAt(source, 'data') } as const
  return { type: type === 'image' ? 'image' : 'file', source: media }
}

class AnthropicReply implements ReplyReader {
  readonly #blocks = new Map<number, { start: JsonObject; text: string }>()
  #usage: ReplyUsage | null = null
  #isWhole = false

  take(event: JsonObject): void {
    switch (event['type']) {
      case 'message': {
        for (const [index, block] of blocksOf(event['content']).entries()) this.#start(index, block)
        this.#count(event['usage'])
        this.#isWhole = true
        return
      }
      case 'message_start':
        if (isObject(event['message'])) this.#count(event['message']['usage'])
        return
      case 'content_block_start':
        if (isObject(event['content_block'])) {
          this.#start(countOf(event['index']), event['content_block'])
        }
        return
      case 'content_block_delta': {
        const block = this.#blocks.get(countOf(event['index']))
        const { delta } = event
        if (block === undefined || !isObject(delta)) return
        if (delta['type'] === 'text_delta') block.text += textAt(delta, 'text')
        else if (delta['type'] === 'input_json_delta') block.text += textAt(delta, 'partial_json')
        return
      }
      case 'message_delta':
        this.#count(event['usage'])
        return
      case 'message_stop':
        this.#isWhole = true
        return
      default:
        return
    }
  }

  reply(): UpstreamReply {
    const units = [...this.#blocks.values()].flatMap(({ start, text }) => {
      if (start['type'] === 'text') return textUnit('assistant', textAt(start, 'text') + text)
      if (start['type'] === 'tool_use' && text !== '') {
        const unit = callUnit(textAt(start, 'id'), textAt(start, 'name'), text)
        // Cut off within its arguments, so no client runs it.
        return unit.kind === 'call' && unit.inputText === undefined ? [unit] : []
      }
      return assistantUnits(start)
    })
    return { units, isWhole: this.#isWhole, usage: this.#usage }
  }

  #start(index: number, start: JsonObject): void {
    this.#blocks.set(index, { start, text: '' })
  }

  #count(usage: JsonValue | undefined): void {
    if (!isObject(usage)) return
    const cached = countOf(usage['cache_read_input_tokens'])
    const written = countOf(usage['cache_creation_input_tokens'])
    const input = countOf(usage['input_tokens']) + cached + written
    const before = this.#usage
    // The last event repeats only some of the figures.
    this.#usage = {
      inputTokens: Math.max(before?.inputTokens ?? 0, input),
      cachedTokens: Math.max(before?.cachedTokens ?? 0, cached),
      cacheWriteTokens: Math.max(before?.cacheWriteTokens ?? 0, written),
      outputTokens: Math.max(before?.outputTokens ?? 0, countOf(usage['output_tokens'])),
    }
  }
}
