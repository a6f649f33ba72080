import { isObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { Codec } from '../codec.ts'
import type { Dialect } from '../dialect.ts'
import type { Message, OpaquePart } from '../message.ts'
import type { Accepted } from './accepted.ts'
import { findLoneSurrogates, jsonKindOf, type Violation, type WireFindings } from './findings.ts'

/**
 * The request to a provider: `messages`, `input` or `contents`, and system text if it goes beside
 * them.
 */
export type Wire = JsonObject

/**
 * One dialect: what its provider accepts, how normalized messages are written for it, and which rules a
 * request breaks. A program that imports one dialect does not bundle the others.
 */
export interface ProviderDialect {
  readonly name: Dialect
  write(messages: readonly Message[]): Wire
  check(wire: JsonObject): WireFindings
  readonly accepts: Accepted
}

export function writeWith(
  codec: Codec,
  key: 'messages' | 'input',
  messages: readonly Message[],
): Wire {
  const wrapper = { key, fields: {} }
  return codec.format({ format: codec.name, messages, wrapper, notes: [] }) as Wire
}

/** The type of a provider's item; empty if it has none. */
export function itemType({ value }: OpaquePart): string {
  const type = isObject(value) ? value['type'] : undefined
  return typeof type === 'string' ? type : ''
}

export function violationsOf(dialect: ProviderDialect, wire: JsonValue): readonly Violation[] {
  if (!isObject(wire)) {
    return [{ rule: 'shape', at: '', detail: `expected an object, found ${jsonKindOf(wire)}` }]
  }
  const findings = dialect.check(wire)
  findLoneSurrogates(wire, findings)
  return findings.violations
}
