import { hash } from 'node:crypto'
import { isObject, type JsonObject, type JsonValue } from '#core/base/json'
import { Rejection } from './protocols/protocol.ts'

/**
 * Opaque items, as providers hand them out: a signature over thoughts, encrypted reasoning, an
 * encrypted compaction. Nothing here is secret; what counts is that the stand-in notices, as the
 * provider does, when one of its own items comes back changed by a single character.
 */
const MARK = 'standin.'

export function seal(text: string): string {
  const check = hash('sha256', text.toWellFormed(), 'hex').slice(0, 16)
  return `${MARK}${check}.${Buffer.from(text).toString('base64url')}`
}

/** What was sealed, or nothing for what somebody else made or somebody changed. */
export function unseal(sealed: string): string | undefined {
  if (!sealed.startsWith(MARK)) return undefined
  const text = Buffer.from(sealed.slice(sealed.indexOf('.', MARK.length) + 1), 'base64url')
  const opened = text.toString()
  return seal(opened) === sealed ? opened : undefined
}

/** Refuses items of ours that were changed. Items of others are taken as they are. */
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
