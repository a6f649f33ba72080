import type { JsonObject } from '../../../base/json.ts'
import { isBlank, jsonKindOf, WireFindings, word } from '../findings.ts'

/**
 * The rules of the strictest chat templates of local servers: only text, and alternating user and
 * assistant messages.
 */
export function checkStrict(wire: JsonObject): WireFindings {
  const findings = new WireFindings()
  const messages = findings.objects(wire['messages'], 'messages')
  let before: string | undefined
  for (const [index, { item, at }] of messages.entries()) {
    const { role, content } = item as { role?: unknown; content?: unknown }
    if (role !== 'system' && role !== 'user' && role !== 'assistant') {
      findings.add('shape', at, `unknown role ${word(role)}`)
    }
    if (item['tool_calls'] !== undefined) findings.add('shape', at, 'templates know no tool calls')
    if (typeof content !== 'string') {
      findings.add('shape', `${at}.content`, `expected text, found ${jsonKindOf(content)}`)
    } else if (isBlank(content)) findings.add('blank-text', at, 'nothing but white space')

    if (role === 'system') {
      if (index > 0)
        findings.add('system-position', at, 'a system message behind the first message')
      continue
    }
    if (before === undefined && role !== 'user') findings.add('first-role', at, 'not from the user')
    if (before === role) findings.add('role-alternation', at, `a second ${word(role)} message`)
    before = word(role)
  }
  if (before === undefined) findings.add('no-messages', 'messages', 'nothing was said')
  else if (before !== 'user')
    findings.add('request-last', 'messages', `the last message is from ${before}`)
  return findings
}
