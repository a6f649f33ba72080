import { isObject, type JsonObject, type JsonValue } from '../../../base/json.ts'
import { isBlank, jsonKindOf, WireFindings, word } from '../findings.ts'
import { CHAT_CALL_ID, fits, OPENAI_NAME } from '../rules.ts'

const PART_TYPES_BY_ROLE: ReadonlyMap<string, readonly string[]> = new Map([
  ['system', ['text']],
  ['developer', ['text']],
  ['user', ['text', 'image_url', 'input_audio', 'file']],
  ['assistant', ['text', 'refusal']],
  ['tool', ['text']],
])

export function checkOpenaiChat(wire: JsonObject): WireFindings {
  const findings = new WireFindings()
  const messages = findings.objects(wire['messages'], 'messages')
  const callIds = new Set<string>()
  /** Call ids of the preceding reply: those that still need a result, and those that have one. */
  let waiting = new Set<string>()
  let answered = new Set<string>()
  let replyAt = ''
  const closeReply = () => {
    for (const id of waiting)
      findings.add('unanswered-call', replyAt, `no tool message answers ${id}`)
    waiting = new Set()
    answered = new Set()
  }

  for (const { item, at } of messages) {
    const role = word(item['role'])
    if (role !== 'tool') closeReply()
    if (!PART_TYPES_BY_ROLE.has(role)) {
      findings.add('shape', at, `unknown role ${role}`)
      continue
    }
    const saysSomething = checkContent(findings, item['content'], role, `${at}.content`)
    if (role === 'tool') {
      const id = word(item['tool_call_id'])
      if (waiting.delete(id)) answered.add(id)
      else if (answered.has(id)) findings.add('duplicate-result', at, `${id} is answered twice`)
      else findings.add('orphan-result', at, `the reply before has no call ${id}`)
      continue
    }
    const calls = role === 'assistant' ? checkCalls(findings, item, at) : []
    for (const id of calls) {
      if (callIds.has(id)) findings.add('duplicate-call-id', at, `${id} is used twice`)
      callIds.add(id)
      waiting.add(id)
      replyAt = at
    }
    const isEmpty = !saysSomething && calls.length === 0 && typeof item['refusal'] !== 'string'
    if (isEmpty) findings.add('empty-content', at, `the ${role} message says nothing`)
  }
  closeReply()

  const last = messages.findLast(({ item }) => !isInstruction(item))
  if (last === undefined) findings.add('no-messages', 'messages', 'nothing was said')
  else if (last.item['role'] !== 'user' && last.item['role'] !== 'tool') {
    findings.add('request-last', last.at, `the last message is from ${word(last.item['role'])}`)
  }
  return findings
}

function isInstruction(item: JsonObject): boolean {
  return item['role'] === 'system' || item['role'] === 'developer'
}

/** Reports empty content; only a tool's output may be empty. */
function checkContent(
  findings: WireFindings,
  content: JsonValue | undefined,
  role: string,
  at: string,
): boolean {
  if (typeof content === 'string') return !isBlank(content)
  if (content === null || content === undefined) {
    if (role !== 'assistant')
      findings.add('shape', at, `expected text or parts, found ${jsonKindOf(content)}`)
    return false
  }
  const parts = findings.objects(content, at)
  if (Array.isArray(content) && content.length === 0) {
    findings.add('empty-content', at, 'the list of parts is empty')
  }
  let saysSomething = false
  for (const { item, at: path } of parts) {
    const type = word(item['type'])
    if (!PART_TYPES_BY_ROLE.get(role)?.includes(type)) {
      findings.add('content-part', path, `a ${role} message cannot hold ${type}`)
    }
    if (type === 'text' && typeof item['text'] !== 'string') {
      findings.add('shape', `${path}.text`, `expected text, found ${jsonKindOf(item['text'])}`)
    }
    if (type !== 'text' || !isBlank(word(item['text']))) saysSomething = true
  }
  return saysSomething
}

/** The ids of the calls. */
function checkCalls(findings: WireFindings, message: JsonObject, at: string): readonly string[] {
  if (message['tool_calls'] === undefined || message['tool_calls'] === null) return []
  const calls = findings.objects(message['tool_calls'], `${at}.tool_calls`)
  if (calls.length === 0) findings.add('shape', `${at}.tool_calls`, 'the list of calls is empty')
  return calls.map(({ item, at: path }) => {
    const isCustom = item['type'] === 'custom'
    const call = item[isCustom ? 'custom' : 'function']
    const name = isObject(call) ? call['name'] : undefined
    const input = isObject(call) ? call[isCustom ? 'input' : 'arguments'] : undefined
    const id = item['id']
    if (typeof id !== 'string' || !fits(id, CHAT_CALL_ID)) {
      findings.add('call-id', `${path}.id`, `not an id the provider takes: ${JSON.stringify(id)}`)
    }
    if (typeof name !== 'string' || !fits(name, OPENAI_NAME)) {
      findings.add('tool-name', path, `not a name the provider takes: ${JSON.stringify(name)}`)
    }
    if (typeof input !== 'string') {
      findings.add('call-input', path, `expected the arguments as text, found ${jsonKindOf(input)}`)
    }
    return word(id)
  })
}
