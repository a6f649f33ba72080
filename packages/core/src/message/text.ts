import { isObject, type JsonValue } from '../base/json.ts'
import type { Message, Part } from './message.ts'

/**
 * The plain text of a message or part: for people, for the summarizer, and for formats without such
 * a part. Images and files become markers. Never throws.
 */
export function textOf(value: Message | Part): string {
  if ('role' in value) {
    if (value.role === 'handoff') return value.handoff.summary
    return value.parts.map(textOf).filter(Boolean).join('\n')
  }
  switch (value.type) {
    case 'text':
    case 'reasoning':
      return value.text
    case 'image':
      return '[image]'
    case 'file':
      return value.name === undefined ? '[file]' : `[file ${value.name}]`
    case 'tool-call':
      return `[call ${value.name}] ${value.inputText ?? JSON.stringify(value.input)}`
    case 'tool-result':
      return value.output.map(textOf).filter(Boolean).join('\n')
    case 'opaque':
      return textOfOpaque(value.value)
  }
}

/** The text parts only. */
export function plainText(parts: readonly Part[]): string {
  const [only] = parts
  if (parts.length === 1 && only?.type === 'text') return only.text
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}

function textOfOpaque(value: JsonValue): string {
  if (typeof value === 'string') return value
  const type = isObject(value) ? value['type'] : undefined
  return typeof type === 'string' ? `[${type}]` : '[unknown]'
}
