import { isDeepStrictEqual } from 'node:util'
import {
  isArray,
  isObject,
  type JsonObject,
  type JsonValue,
} from '../../packages/core/src/base/json.ts'

/**
 * Takes the client's own words out of a line of its log: prompts, reminders, descriptions of tools.
 * Only these strings and lists change; every other byte stays as the client wrote it. Words of the
 * conversation, results of tools and short texts stay.
 */
const OWN_WORDS = "(the client's own words)"
const WORDS_MAX = 5

/** Words by which readers know that the client speaks; they stay in front. */
const OPENING =
  /^(?:<[a-z_-]{1,40}(?: [a-z]{1,20})?>|# AGENTS\.md instructions|This session is being continued from a previous conversation|Another language model started to solve this problem)/

/** Lists of tools and their schemas: large, and no reader looks at them. */
const LISTS = ['tools', 'toolsAdded', 'toolSchemas']

/** What a tool was given or returned is no prompt. */
const RESULTS = ['tool_result', 'function_call_output', 'toolResult', 'toolUseResult']
const CALLS = ['aggregated_output', 'arguments', 'cmd', 'command', 'input']

/** Claude Code's copies of whole requests, beside the conversation. */
const REQUESTS = ['api-request', 'api-request-blob', 'api-request-shape']

/** Nothing for a line that holds a request and not the conversation. */
export function stripLine(line: string, ours: readonly string[]): readonly string[] {
  const changes = new Map<string, string>()
  const document = JSON.parse(line) as JsonValue
  if (isObject(document) && REQUESTS.includes(String(document['type']))) return []
  const expected = strip(document, ours, changes)
  let stripped = line
  const sorted = [...changes].sort(([one], [other]) => byLength(one, other))
  for (const [before, after] of sorted) stripped = stripped.replaceAll(before, after)
  if (!isDeepStrictEqual(JSON.parse(stripped), expected)) {
    throw new Error(`The client spells JSON in another way than expected: ${line.slice(0, 200)}`)
  }
  return [stripped]
}

function strip(value: JsonValue, ours: readonly string[], changes: Map<string, string>): JsonValue {
  const replace = (after: JsonValue) => {
    changes.set(JSON.stringify(value), JSON.stringify(after))
    return after
  }
  if (typeof value === 'string') {
    const after = stripText(value, ours)
    return after === value ? value : replace(after)
  }
  if (isArray(value)) return value.map((item) => strip(item, ours, changes))
  if (!isObject(value) || isResult(value)) return value
  const entries = Object.entries(value).map(([key, inner]): [string, JsonValue] => {
    if (inner === undefined || [...RESULTS, ...CALLS].includes(key)) return [key, inner ?? null]
    if (!LISTS.includes(key) || !isArray(inner) || !inner.some(isObject))
      return [key, strip(inner, ours, changes)]
    changes.set(`${JSON.stringify(key)}:${JSON.stringify(inner)}`, `${JSON.stringify(key)}:[]`)
    return [key, []]
  })
  return Object.fromEntries(entries)
}

function isResult({ type, role }: JsonObject): boolean {
  return RESULTS.includes(String(type)) || RESULTS.includes(String(role))
}

function stripText(text: string, ours: readonly string[]): string {
  if (!isLong(text)) return text
  let others = text
  // Long ones first: one may hold another.
  const held = ours.toSorted(byLength).filter((each) => {
    const isHeld = others.includes(each)
    others = others.replaceAll(each, '')
    return isHeld
  })
  if (!isLong(others)) return text
  const opening = OPENING.exec(text)?.[0] ?? ''
  const closing = opening.startsWith('<') ? (/<\/[a-z_-]{1,40}>\s*$/.exec(text)?.[0] ?? '') : ''
  return [opening, OWN_WORDS, ...held].filter((part) => part !== '').join('\n') + closing
}

function isLong(text: string): boolean {
  return text.split(/\s+/).filter((word) => /[a-z]{2}/i.test(word)).length > WORDS_MAX
}

function byLength(one: string, other: string): number {
  return other.length - one.length
}
