import type { JsonObject } from '../../../base/json.ts'
import { isBlank, jsonKindOf, WireFindings, word } from '../findings.ts'
import { fits, OPENAI_NAME } from '../rules.ts'

const PART_TYPES_BY_ROLE: ReadonlyMap<string, readonly string[]> = new Map([
  ['system', ['input_text', 'input_image', 'input_file']],
  ['developer', ['input_text', 'input_image', 'input_file']],
  ['user', ['input_text', 'input_image', 'input_file', 'input_audio']],
  ['assistant', ['output_text', 'refusal']],
])

/** The field that contains the arguments, for calls whose arguments are text. */
const INPUT_FIELDS: ReadonlyMap<string, string> = new Map([
  ['function_call', 'arguments'],
  ['custom_tool_call', 'input'],
])

export function checkOpenaiResponses(wire: JsonObject): WireFindings {
  const findings = new WireFindings()
  // A single string is shorthand for one user message.
  const { input } = wire
  const text = typeof input === 'string' ? [{ role: 'user', content: input }] : input
  const items = findings.objects(text, 'input')
  const calls = new Map<string, { readonly at: string; answers: number }>()
  const itemIds = new Set<string>()

  for (const [index, { item, at }] of items.entries()) {
    const kind = kindOfItem(item)
    const id = item['id']
    if (typeof id === 'string') {
      if (itemIds.has(id)) findings.add('duplicate-item-id', at, `${id} is used twice`)
      itemIds.add(id)
    }
    if (kind === 'message') checkMessage(findings, item, at)
    else if (kind === 'unknown') {
      findings.add('shape', at, `expected the type of an item, found ${jsonKindOf(item['type'])}`)
    } else if (kind === 'call') {
      checkCall(findings, item, at)
      const callId = word(item['call_id'])
      if (calls.has(callId)) findings.add('duplicate-call-id', at, `${callId} is used twice`)
      else calls.set(callId, { at, answers: 0 })
    } else if (kind === 'result') {
      if (needsOutput(item)) findings.add('shape', at, 'expected an output, found nothing')
      const call = calls.get(word(item['call_id']))
      if (call === undefined) {
        findings.add('orphan-result', at, `no call ${word(item['call_id'])} before it`)
      } else if (call.answers++ > 0) {
        findings.add('duplicate-result', at, `${word(item['call_id'])} is answered twice`)
      }
    } else if (kind === 'reasoning') {
      const next = items[index + 1]?.item
      const isFollowed = next !== undefined && isFromModel(next)
      if (!isFollowed) findings.add('reasoning-alone', at, 'nothing of the reply follows it')
    }
  }
  for (const [id, { at, answers }] of calls) {
    if (answers === 0) findings.add('unanswered-call', at, `no output for ${id}`)
  }

  const last = items.findLast(
    ({ item }) => item['role'] !== 'system' && item['role'] !== 'developer',
  )
  if (last === undefined) findings.add('no-messages', 'input', 'nothing was said')
  else if (last.item['role'] !== 'user' && kindOfItem(last.item) !== 'result') {
    findings.add(
      'request-last',
      last.at,
      `the last item is ${word(last.item['type'] ?? last.item['role'])}`,
    )
  }
  return findings
}

type ItemKind = 'message' | 'call' | 'result' | 'reasoning' | 'other' | 'unknown'

/** Calls that the provider runs itself have no `call_id` and need no output item. */
function kindOfItem(item: JsonObject): ItemKind {
  const type = item['type']
  if (type === 'message' || (type === undefined && item['role'] !== undefined)) return 'message'
  if (typeof type !== 'string') return 'unknown'
  if (type === 'reasoning') return 'reasoning'
  if (type.endsWith('_output')) return 'result'
  if (INPUT_FIELDS.has(type)) return 'call'
  return type.endsWith('_call') && item['call_id'] !== undefined ? 'call' : 'other'
}

/** Some of the provider's own results use other fields instead of `output`. */
function needsOutput({ type, output }: JsonObject): boolean {
  return INPUT_FIELDS.has(word(type).slice(0, -'_output'.length)) && output === undefined
}

/** Includes reasoning: only the last of several in a row needs another item after it. */
function isFromModel(item: JsonObject): boolean {
  const kind = kindOfItem(item)
  return kind === 'message' ? item['role'] === 'assistant' : kind !== 'result'
}

function checkMessage(findings: WireFindings, item: JsonObject, at: string): void {
  const role = word(item['role'])
  const content = item['content']
  const types = PART_TYPES_BY_ROLE.get(role)
  if (types === undefined) {
    findings.add('shape', at, `unknown role ${role}`)
    return
  }
  if (typeof content === 'string') {
    if (isBlank(content)) findings.add('empty-content', at, `the ${role} message says nothing`)
    return
  }
  let saysSomething = false
  for (const { item: part, at: path } of findings.objects(content, `${at}.content`)) {
    const type = word(part['type'])
    if (!types.includes(type))
      findings.add('content-part', path, `a ${role} message cannot hold ${type}`)
    const isText = type.endsWith('_text')
    if (isText && typeof part['text'] !== 'string') {
      findings.add('shape', `${path}.text`, `expected text, found ${jsonKindOf(part['text'])}`)
    }
    if (!isText || !isBlank(word(part['text']))) saysSomething = true
  }
  if (!saysSomething) findings.add('empty-content', at, `the ${role} message says nothing`)
}

function checkCall(findings: WireFindings, item: JsonObject, at: string): void {
  const callId = item['call_id']
  if (typeof callId !== 'string' || !fits(callId, OPENAI_NAME)) {
    findings.add(
      'call-id',
      `${at}.call_id`,
      `not an id the provider takes: ${JSON.stringify(callId)}`,
    )
  }
  const field = INPUT_FIELDS.get(word(item['type']))
  if (field === undefined) return
  const name = item['name']
  if (typeof name !== 'string' || !fits(name, OPENAI_NAME)) {
    findings.add(
      'tool-name',
      `${at}.name`,
      `not a name the provider takes: ${JSON.stringify(name)}`,
    )
  }
  if (typeof item[field] !== 'string') {
    findings.add('call-input', `${at}.${field}`, `expected text, found ${jsonKindOf(item[field])}`)
  }
}
