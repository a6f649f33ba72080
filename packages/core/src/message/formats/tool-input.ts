import type { JsonValue } from '../../base/json.ts'
import { findDepthFault } from '../json-text.ts'
import type { ToolCallPart } from '../message.ts'

/**
 * Arguments that travel as JSON text. The model's own text is kept where printing the value again
 * would change it (spacing, number spellings, broken JSON), because providers cache by bytes.
 */
export function readToolInput(text: string): Pick<ToolCallPart, 'input' | 'inputText'> {
  const input = parseOr(text, text === '' ? {} : text)
  return JSON.stringify(input) === text ? { input } : { input, inputText: text }
}

export function writeToolInput(call: ToolCallPart): string {
  return call.inputText ?? JSON.stringify(call.input)
}

/** The value of a JSON text; any other input is returned unchanged. */
export function parseOr<T>(text: string, otherwise: T): JsonValue | T {
  // Too deep a nesting would be parsed, and then overflow the stack of everything that walks it.
  if (findDepthFault(text) !== undefined) return otherwise
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return otherwise
  }
}
