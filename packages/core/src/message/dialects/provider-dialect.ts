import { isObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { Codec } from '../codec.ts'
import type { Dialect } from '../dialect.ts'
import type { Message } from '../message.ts'
import { findLoneSurrogates, jsonKindOf, type Violation, type WireFindings } from './findings.ts'

/**
 * The request to a provider: `messages`, `input` or `contents`, and system text if it goes beside
 * them.
 */
export type Wire = JsonObject

/**
 * One dialect: how normalized messages are written for its provider, and which rules a request
 * breaks. A program that imports one dialect does not bundle the others.
 */
export interface ProviderDialect {
  readonly name: Dialect
  write(messages: readonly Message[]): Wire
  check(wire: JsonObject): WireFindings
}

export function writeWith(
  codec: Codec,
  key: 'messages' | 'input',
  messages: readonly Message[],
): Wire {
  const wrapper = { key, fields: {} }
  return codec.format({ format: codec.name, messages, wrapper, notes: [] }) as Wire
}

export function violationsOf(dialect: ProviderDialect, wire: JsonValue): readonly Violation[] {
  if (!isObject(wire)) {
    return [{ rule: 'shape', at: '', detail: `expected an object, found ${jsonKindOf(wire)}` }]
  }
  const findings = dialect.check(wire)
  findLoneSurrogates(wire, findings)
  return findings.violations
}
