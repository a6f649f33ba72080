import { isObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { Dialect } from '../dialect.ts'
import { checkAnthropic } from './check-anthropic.ts'
import { checkGemini } from './check-gemini.ts'
import { checkOpenaiChat } from './check-openai-chat.ts'
import { checkOpenaiResponses } from './check-openai-responses.ts'
import { checkStrict } from './check-strict.ts'
import { findLoneSurrogates, jsonKindOf, type Violation, type WireFindings } from './findings.ts'

const CHECKERS: { readonly [dialect in Dialect]: (wire: JsonObject) => WireFindings } = {
  'openai-chat': checkOpenaiChat,
  'openai-responses': checkOpenaiResponses,
  anthropic: checkAnthropic,
  gemini: checkGemini,
  strict: checkStrict,
}

/**
 * Every rule of the dialect that a request breaks, with its place; empty means the provider will not
 * refuse it for its form. It reads the request's JSON and nothing of ours, so that it can judge what
 * we render as well as what anybody else does.
 */
export function checkWire(dialect: Dialect, wire: JsonValue): readonly Violation[] {
  if (!isObject(wire)) {
    return [{ rule: 'shape', at: '', detail: `expected an object, found ${jsonKindOf(wire)}` }]
  }
  const findings = CHECKERS[dialect](wire)
  findLoneSurrogates(wire, findings)
  return findings.violations
}
