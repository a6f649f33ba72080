import { isObject, type JsonValue } from '../../base/json.ts'
import { sha256Hex } from '../../base/sha256.ts'
import type { FileRecord } from '../../message/handoff/handoff.ts'
import type { Message, ToolCallPart, ToolResultPart } from '../../message/message.ts'
import { plainText } from '../../message/text.ts'
import type { CountTokens } from '../counters.ts'
import type { NumberOf } from '../layout.ts'
import { redact } from '../redact/redact.ts'

/**
 * Which files the agent read and changed, newest first, so that it need not read an unchanged file
 * again. Tools have many names, so a call counts as touching a file if one of its arguments has the
 * name of a path; its other arguments show whether it changed the file.
 */
const PATH_KEYS = [
  'file_path',
  'filePath',
  'path',
  'filename',
  'file_name',
  'file',
  'notebook_path',
]
const CHANGE_KEYS = ['content', 'new_string', 'newText', 'new_str', 'edits', 'patch', 'file_text']
const LISTING_NAMES = /glob|grep|search|find|list|^ls$/i

interface Touch {
  readonly record: Omit<FileRecord, 'hash'>
  readonly call: ToolCallPart
}

export function collectFiles(request: {
  readonly earlier: readonly FileRecord[]
  readonly head: readonly Message[]
  readonly numberOf: NumberOf
  readonly tokensMax: number
  readonly countTokens: CountTokens
}): readonly FileRecord[] {
  const { earlier, head, numberOf, tokensMax, countTokens } = request
  const touches = new Map<string, Touch>()
  const results = new Map<string, ToolResultPart>()
  for (let index = head.length - 1; index >= 0; index--) {
    const message = head[index]
    if (message?.role === 'tool') {
      for (const part of message.parts) results.set(part.callId, part)
    }
    if (message?.role !== 'assistant') continue
    for (const part of message.parts) {
      if (part.type !== 'tool-call' || results.get(part.id)?.isError === true) continue
      const touch = readTouch(part, numberOf(index))
      const known = touches.get(touch?.record.path ?? '')
      if (touch === undefined) continue
      // The newest access gives number and hash; a single change makes it a changed file.
      if (known === undefined) touches.set(touch.record.path, touch)
      else if (touch.record.access === 'changed') {
        touches.set(known.record.path, { ...known, record: { ...known.record, access: 'changed' } })
      }
    }
  }
  const found = [...touches.values()].map(({ record, call }) => (): FileRecord => {
    const digest = hashOf(call, results.get(call.id))
    return digest === undefined ? record : { ...record, hash: digest }
  })
  const carried = earlier.filter((file) => !touches.has(file.path)).map((file) => () => file)
  const kept: FileRecord[] = []
  let left = tokensMax
  for (const make of [...found, ...carried]) {
    const file = make()
    left -= countTokens(`${file.access} ${file.path} #${file.number} sha256:${file.hash ?? ''}`) + 1
    if (left < 0) break
    kept.push(file)
  }
  return kept
}

function readTouch(call: ToolCallPart, number: number): Touch | undefined {
  const { input } = call
  if (!isObject(input) || LISTING_NAMES.test(call.name)) return undefined
  const path = PATH_KEYS.map((key) => input[key]).find((value) => typeof value === 'string')
  if (typeof path !== 'string' || path.trim() === '' || path.length > 1_000) return undefined
  const isChange = CHANGE_KEYS.some((key) => Object.hasOwn(input, key))
  return { record: { path: redact(path), access: isChange ? 'changed' : 'read', number }, call }
}

/**
 * A hash of the whole content, if the call or its result shows it: written text, or an unranged
 * read.
 */
function hashOf(call: ToolCallPart, result: ToolResultPart | undefined): string | undefined {
  const content = isObject(call.input) ? wholeContent(call.input, result) : undefined
  return content === undefined ? undefined : sha256Hex(content).slice(0, 12)
}

function wholeContent(
  input: { readonly [key: string]: JsonValue },
  result: ToolResultPart | undefined,
): string | undefined {
  const written = input['content'] ?? input['file_text']
  if (typeof written === 'string') return written
  const isPartial = ['offset', 'limit', 'start', 'start_line', 'view_range', 'range', 'lines']
  if (isPartial.some((key) => Object.hasOwn(input, key))) return undefined
  if (CHANGE_KEYS.some((key) => Object.hasOwn(input, key))) return undefined
  if (result === undefined || result.cleared === true) return undefined
  const text = plainText(result.output)
  return text === '' ? undefined : withoutLineNumbers(text)
}

/** Many read tools number the lines; the hash is of the file, not of the listing. */
function withoutLineNumbers(text: string): string {
  const lines = text.split('\n')
  const numbered = lines.map((line) => /^ {0,8}\d{1,7}(?:[→\t]|[:|] )(.*)$/.exec(line))
  return numbered.every((match) => match !== null)
    ? numbered.map((match) => match?.[1] ?? '').join('\n')
    : text
}
