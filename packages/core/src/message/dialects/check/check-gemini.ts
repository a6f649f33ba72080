import { isObject, type JsonObject } from '../../../base/json.ts'
import { isBlank, jsonKindOf, type Located, WireFindings, word } from '../findings.ts'
import { fits, GEMINI_NAME } from '../rules.ts'

/**
 * Gemini has three kinds of turns: user, model, and function responses (in the user role). A call
 * turn follows a user or a response turn. A response turn follows its call turn and contains
 * exactly one response per call, in the order of the calls.
 */
type Turn = 'user' | 'model' | 'response'

export function checkGemini(wire: JsonObject): WireFindings {
  const findings = new WireFindings()
  const { systemInstruction } = wire as { systemInstruction?: JsonObject }
  if (systemInstruction !== undefined) {
    checkParts(
      findings,
      findings.objects(systemInstruction['parts'], 'systemInstruction.parts'),
      'user',
      'systemInstruction',
    )
  }
  const contents = findings.objects(wire['contents'], 'contents')
  const first = contents[0]
  if (first === undefined) findings.add('no-messages', 'contents', 'nothing was said')
  else if (first.item['role'] !== 'user') findings.add('first-role', first.at, 'not from the user')

  let before:
    | { readonly turn: Turn; readonly calls: readonly string[]; readonly at: string }
    | undefined
  for (const { item, at } of contents) {
    const role = item['role']
    if (role !== 'user' && role !== 'model') findings.add('shape', at, `unknown role ${word(role)}`)
    const parts = findings.objects(item['parts'], `${at}.parts`)
    checkParts(findings, parts, word(role), at)

    const responses = namesIn(parts, 'functionResponse')
    const turn: Turn = role === 'model' ? 'model' : responses.length > 0 ? 'response' : 'user'
    if (turn === 'response' && responses.length < parts.length) {
      findings.add('results-alone', at, 'function responses stand beside other parts')
    }
    if (turn === before?.turn) findings.add('role-alternation', at, `a second ${turn} turn`)
    pairNames(findings, before?.calls ?? [], responses, { callsAt: before?.at ?? at, at })
    before = { turn, calls: turn === 'model' ? namesIn(parts, 'functionCall') : [], at }
  }
  if (before === undefined) return findings
  pairNames(findings, before.calls, [], { callsAt: before.at, at: before.at })
  if (before.turn === 'model')
    findings.add('request-last', before.at, 'the last turn is the model’s')
  return findings
}

function pairNames(
  findings: WireFindings,
  calls: readonly string[],
  responses: readonly string[],
  paths: { readonly callsAt: string; readonly at: string },
): void {
  for (let index = 0; index < Math.max(calls.length, responses.length); index++) {
    const [call, response] = [calls[index], responses[index]]
    if (response === undefined)
      findings.add('unanswered-call', paths.callsAt, `no response to ${call}`)
    else if (call !== response)
      findings.add('orphan-result', paths.at, `no call of ${response} at its position`)
  }
}

function namesIn(
  parts: readonly Located[],
  key: 'functionCall' | 'functionResponse',
): readonly string[] {
  return parts.flatMap(({ item }) => {
    const value = item[key]
    return isObject(value) ? [word(value['name'])] : []
  })
}

function checkParts(
  findings: WireFindings,
  parts: readonly Located[],
  role: string,
  at: string,
): void {
  if (parts.length === 0) findings.add('empty-content', at, 'the turn has no parts')
  for (const { item, at: path } of parts) {
    const { text, functionCall, functionResponse } = item as JsonObject & { [key: string]: never }
    if (Object.keys(item).length === 0) findings.add('shape', path, 'the part is empty')
    if (text !== undefined) {
      if (typeof text !== 'string')
        findings.add('shape', path, `expected text, found ${jsonKindOf(text)}`)
      // A reply may end with an empty text that carries only a signature.
      else if (isBlank(text) && item['thoughtSignature'] === undefined)
        findings.add('blank-text', path, 'nothing but white space')
    }
    if (functionCall !== undefined) {
      if (role !== 'model') findings.add('content-part', path, 'only the model calls')
      checkFunction(findings, functionCall, 'args', `${path}.functionCall`)
    }
    if (functionResponse !== undefined) {
      if (role !== 'user') findings.add('content-part', path, 'only the user’s side answers calls')
      checkFunction(findings, functionResponse, 'response', `${path}.functionResponse`)
    }
  }
}

function checkFunction(findings: WireFindings, value: unknown, field: string, at: string): void {
  if (!isObject(value)) {
    findings.add('shape', at, `expected an object, found ${jsonKindOf(value)}`)
    return
  }
  const name = value['name']
  if (typeof name !== 'string' || !fits(name, GEMINI_NAME)) {
    findings.add(
      'tool-name',
      `${at}.name`,
      `not a name the provider takes: ${JSON.stringify(name)}`,
    )
  }
  if (!isObject(value[field])) {
    findings.add(
      'call-input',
      `${at}.${field}`,
      `expected an object, found ${jsonKindOf(value[field])}`,
    )
  }
}
