import { isArray, isObject, type JsonObject, type JsonValue } from '../../../base/json.ts'
import { isBlank, jsonKindOf, type Located, WireFindings, word } from '../findings.ts'
import { ANTHROPIC_CALL_ID, ANTHROPIC_NAME, fits } from '../rules.ts'

/** Known blocks that a role may not contain; unknown blocks pass. */
const NOT_FOR: ReadonlyMap<string, readonly string[]> = new Map([
  ['user', ['tool_use', 'thinking', 'redacted_thinking', 'server_tool_use']],
  ['assistant', ['tool_result', 'image', 'document']],
])

export function checkAnthropic(wire: JsonObject): WireFindings {
  const findings = new WireFindings()
  checkSystem(findings, wire['system'])
  const messages = findings.objects(wire['messages'], 'messages')
  const first = messages[0]
  const last = messages.at(-1)
  if (first === undefined) findings.add('no-messages', 'messages', 'nothing was said')
  else if (first.item['role'] !== 'user') findings.add('first-role', first.at, 'not from the user')

  const callIds = new Set<string>()
  let open = new Set<string>()
  for (const [index, { item, at }] of messages.entries()) {
    const role = word(item['role'])
    // Only newer models accept one, so `render` never writes one here.
    if (role === 'system') findings.add('system-position', at, 'a system message among the others')
    else if (!NOT_FOR.has(role)) findings.add('shape', at, `unknown role ${role}`)
    const before = messages[index - 1]
    if (before?.item['role'] === role)
      findings.add('role-alternation', at, `a second ${role} message`)

    const blocks = isSetting(item)
      ? []
      : readBlocks(findings, item['content'], role, `${at}.content`)
    open = checkResults(findings, blocks, open, at)
    if (before !== undefined) {
      for (const id of open)
        findings.add('unanswered-call', before.at, `the next message has no result for ${id}`)
    }
    open = checkCalls(findings, blocks, callIds)
    if (role === 'assistant') checkThinking(findings, blocks)
  }
  if (last === undefined) return findings
  for (const id of open)
    findings.add('unanswered-call', last.at, `no message with a result for ${id}`)
  if (last.item['role'] === 'assistant') {
    findings.add('request-last', last.at, 'the last message is from the assistant')
    const text = endOf(last.item['content'])
    if (text !== text.trimEnd()) findings.add('trailing-whitespace', last.at, 'ends in white space')
  }
  return findings
}

function checkSystem(findings: WireFindings, system: JsonValue | undefined): void {
  if (system === undefined || system === '') return
  const texts =
    typeof system === 'string'
      ? [{ item: { text: system }, at: 'system' }]
      : findings.objects(system, 'system')
  for (const { item, at } of texts) {
    if (typeof item['text'] !== 'string')
      findings.add('shape', at, `expected text, found ${jsonKindOf(item['text'])}`)
    else if (isBlank(item['text'])) findings.add('blank-text', at, 'nothing but white space')
  }
}

/** Claude Code sends changed settings, such as `output_config`, as a system message without content. */
function isSetting({ role, content, ...settings }: JsonObject): boolean {
  const isEmpty = isArray(content) && content.length === 0
  return role === 'system' && isEmpty && Object.keys(settings).length > 0
}

/** The content as blocks, each text checked; a string counts as one text block. */
function readBlocks(
  findings: WireFindings,
  content: JsonValue | undefined,
  role: string,
  at: string,
): readonly Located[] {
  const blocks: readonly Located[] =
    typeof content === 'string'
      ? [{ item: { type: 'text', text: content }, at }]
      : findings.objects(content, at)
  if (blocks.length === 0 || content === '')
    findings.add('empty-content', at, 'the message says nothing')
  for (const { item, at: path } of blocks) {
    const type = item['type']
    if (typeof type !== 'string')
      findings.add('shape', path, `expected the type of a block, found ${jsonKindOf(type)}`)
    else if (NOT_FOR.get(role)?.includes(type)) {
      findings.add('content-part', path, `a ${role} message cannot hold ${type}`)
    }
    if (type !== 'text') continue
    const text = item['text']
    if (typeof text !== 'string')
      findings.add('shape', path, `expected text, found ${jsonKindOf(text)}`)
    else if (isBlank(text)) findings.add('blank-text', path, 'nothing but white space')
  }
  return blocks
}

/** The calls that are still open after the results of this message. */
function checkResults(
  findings: WireFindings,
  blocks: readonly Located[],
  open: ReadonlySet<string>,
  at: string,
): Set<string> {
  const stillOpen = new Set(open)
  let othersBegan = false
  for (const { item, at: path } of blocks) {
    if (item['type'] !== 'tool_result') {
      othersBegan = true
      continue
    }
    const id = word(item['tool_use_id'])
    if (othersBegan)
      findings.add('results-first', path, `the result for ${id} stands behind other blocks`)
    if (!open.has(id)) findings.add('orphan-result', path, `${at} does not follow a call ${id}`)
    else if (!stillOpen.delete(id))
      findings.add('duplicate-result', path, `${id} is answered twice`)
    if (item['is_error'] === true && !isErrorText(item['content'])) {
      findings.add('error-result', path, 'a failed call has text only, and some')
    }
  }
  return stillOpen
}

function isErrorText(content: JsonValue | undefined): boolean {
  if (typeof content === 'string') return content !== ''
  if (!isArray(content)) return false
  return (
    content.length > 0 &&
    content.every((block) => isObject(block) && block['type'] === 'text' && block['text'] !== '')
  )
}

function checkCalls(
  findings: WireFindings,
  blocks: readonly Located[],
  callIds: Set<string>,
): Set<string> {
  const open = new Set<string>()
  for (const { item, at } of blocks) {
    if (item['type'] !== 'tool_use') continue
    const { id, name, input } = item as { id?: JsonValue; name?: JsonValue; input?: JsonValue }
    if (typeof id !== 'string' || !fits(id, ANTHROPIC_CALL_ID)) {
      findings.add('call-id', `${at}.id`, `not an id the provider takes: ${JSON.stringify(id)}`)
    } else if (callIds.has(id)) findings.add('duplicate-call-id', at, `${id} is used twice`)
    if (typeof name !== 'string' || !fits(name, ANTHROPIC_NAME)) {
      findings.add(
        'tool-name',
        `${at}.name`,
        `not a name the provider takes: ${JSON.stringify(name)}`,
      )
    }
    if (!isObject(input))
      findings.add('call-input', `${at}.input`, `expected an object, found ${jsonKindOf(input)}`)
    callIds.add(word(id))
    open.add(word(id))
  }
  return open
}

function checkThinking(findings: WireFindings, blocks: readonly Located[]): void {
  for (const { item, at } of blocks) {
    if (item['type'] === 'thinking' && !isText(item['signature'])) {
      findings.add('thinking-unsigned', at, 'no signature')
    }
    if (item['type'] === 'redacted_thinking' && !isText(item['data'])) {
      findings.add('thinking-unsigned', at, 'no data')
    }
  }
  const last = blocks.at(-1)
  if (last?.item['type'] === 'thinking' || last?.item['type'] === 'redacted_thinking') {
    findings.add('thinking-last', last.at, 'the reply ends with thinking')
  }
}

function isText(value: JsonValue | undefined): boolean {
  return typeof value === 'string' && value !== ''
}

function endOf(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content
  const block = isArray(content) ? content.at(-1) : undefined
  return isObject(block) && typeof block['text'] === 'string' ? block['text'] : ''
}
