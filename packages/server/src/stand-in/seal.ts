import { hash } from 'node:crypto'
import { isObject, type JsonObject, type JsonValue } from '#core/base/json'
import { Rejection } from './protocols/protocol.ts'

/**
 * Opaque items like those of providers: a signature over reasoning, encrypted reasoning, an
 * encrypted compaction. Nothing here is secret; the point is that the stand-in notices, as a
 * provider does, when one of its items comes back changed by a single character.
 */
const MARK = 'standin.'

export function seal(text: string): string {
  const check = hash('sha256', text.toWellFormed(), 'hex').slice(0, 16)
  return `${MARK}${check}.${Buffer.from(text).toString('base64url')}`
}

/** The sealed text; undefined if it was changed or is not ours. */
export function unseal(sealed: string): string | undefined {
  if (!sealed.startsWith(MARK)) return undefined
  const text = Buffer.from(sealed.slice(sealed.indexOf('.', MARK.length) + 1), 'base64url')
  const opened = text.toString()
  return seal(opened) === sealed ? opened : undefined
}

/** Refuses our own items if they were changed. Foreign items are accepted unchecked. */
export function checkSeals(items: readonly JsonValue[]): void {
  for (const block of blocksOf(items)) {
    const { encrypted_content: sealed, signature, thinking, content } = block
    if (isOurs(sealed) && unseal(sealed) === undefined) {
      throw new Rejection('The encrypted content of an item could not be verified.', {
        code: 'invalid_encrypted_content',
      })
    }
    if (isOurs(signature) && unseal(signature) !== (thinking ?? content)) {
      throw new Rejection('Invalid `signature` in a `thinking` or `compaction` block.')
    }
  }
}

function isOurs(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value.startsWith(MARK)
}

function* blocksOf(items: readonly JsonValue[]): Generator<JsonObject> {
  for (const item of items) {
    if (!isObject(item)) continue
    yield item
    const { content } = item
    if (Array.isArray(content)) yield* (content as readonly JsonValue[]).filter(isObject)
  }
}
