import type { JsonValue } from '../../base/json.ts'
import { findDepthFault } from '../json-text.ts'
import type { ToolCallPart } from '../message.ts'

/**
 * Arguments sent as JSON text. The model's own text is kept if printing the value would change it
 * (spacing, number formats, broken JSON), because providers cache by bytes.
 */
export function readToolInput(text: string): Pick<ToolCallPart, 'input' | 'inputText'> {
  const input = parseOr(text, text === '' ? {} : text)
  return JSON.stringify(input) === text ? { input } : { input, inputText: text }
}

export function writeToolInput(call: ToolCallPart): string {
  return call.inputText ?? JSON.stringify(call.input)
}

/** The value of a JSON text; otherwise the second argument. */
export function parseOr<T>(text: string, otherwise: T): JsonValue | T {
  // Very deep nesting would parse, and then overflow the stack of every function that walks it.
  if (findDepthFault(text) !== undefined) return otherwise
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return otherwise
  }
}
