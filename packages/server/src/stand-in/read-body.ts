import { isObject, type JsonObject, type JsonValue } from '#core/base/json'
import type { Codec } from '#core/message/codec'
import type { Dialect } from '#core/message/dialect'
import { checkWire } from '#core/message/dialects/check/check'
import type { DialectRule } from '#core/message/dialects/rules'
import type { Message } from '#core/message/message'
import { Rejection } from './protocols/protocol.ts'
import { checkSeals } from './seal.ts'

/**
 * Rules of ours that providers do not enforce: they answer a request that ends with the model's own
 * text, and Anthropic merges adjacent messages of one role and accepts system messages anywhere, as
 * Claude Code sends them.
 */
const LENIENT: readonly DialectRule[] = ['request-last', 'role-alternation', 'system-position']

/** The messages of a request; throws where the provider would refuse their form. */
export function readMessages(
  body: JsonObject,
  { dialect, codec, key }: { dialect: Dialect; codec: Codec; key: 'messages' | 'input' },
): readonly Message[] {
  const violation = checkWire(dialect, body).find(({ rule }) => !LENIENT.includes(rule))
  if (violation !== undefined) {
    throw new Rejection(`${violation.at}: ${violation.detail} (${violation.rule})`, {
      param: violation.at,
    })
  }
  checkSeals(listOf(body[key]))
  return codec.parse(body).messages
}

export function readModel(body: JsonObject): string {
  const { model } = body
  if (typeof model === 'string' && model !== '') return model
  throw new Rejection('model: Field required', { param: 'model' })
}

/** The limit on the answer, under any of its names. */
export function readLimit(body: JsonObject, names: readonly string[]): { tokensMax?: number } {
  for (const name of names) {
    const value = body[name]
    if (value === undefined || value === null) continue
    if (typeof value === 'number' && Number.isInteger(value) && value > 0) {
      return { tokensMax: value }
    }
    throw new Rejection(`${name}: Input should be a whole number greater than 0`, { param: name })
  }
  return {}
}

export function readTools(body: JsonObject): readonly string[] {
  return listOf(body['tools']).flatMap((tool) => {
    const { name, function: inner } = isObject(tool) ? tool : {}
    const found = isObject(inner) ? inner['name'] : name
    return typeof found === 'string' ? [found] : []
  })
}

export function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : []
}
