import { createHmac, timingSafeEqual } from 'node:crypto'
import type { RouteAddress } from '../../runtime/runtime.ts'

/**
 * News from other programs, signed in the form of the Standard Webhooks: HMAC-SHA256 over id,
 * timestamp and the bytes as they came, with any of several secrets, so that one can be replaced.
 * The id becomes the idempotency key: a repetition within the time that is allowed changes nothing.
 */
export interface Hook {
  readonly name: string
  /** Any of them; none lets nobody in. */
  readonly secrets: readonly string[]
  /** Whose session is told. */
  readonly to: RouteAddress
}

export interface Signed {
  readonly id: string
  readonly timestamp: string
  /** `v1,BASE64`, several divided by blanks. */
  readonly signature: string
  readonly bytes: Uint8Array
}

const AGE_MS_MAX = 5 * 60_000
const ID = /^[\x21-\x7e]{1,200}$/
const TIMESTAMP = /^\d{1,12}$/
const SIGNATURES_MAX = 8

export function isGenuine(signed: Signed, secrets: readonly string[], now: number): boolean {
  const { id, timestamp, signature } = signed
  if (!ID.test(id) || !TIMESTAMP.test(timestamp)) return false
  if (Math.abs(now - Number(timestamp) * 1_000) > AGE_MS_MAX) return false
  const given = signature
    .split(' ', SIGNATURES_MAX)
    .filter((each) => each.startsWith('v1,'))
    .map((each) => Buffer.from(each.slice(3), 'base64'))
  return secrets
    .filter((secret) => secret !== '')
    .map((secret) => sign(signed, secret))
    .some((wanted) => given.some((each) => isSame(each, wanted)))
}

export function sign({ id, timestamp, bytes }: Omit<Signed, 'signature'>, secret: string): Buffer {
  return createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(bytes).digest()
}

function isSame(left: Buffer, right: Buffer): boolean {
  return left.length === right.length && timingSafeEqual(left, right)
}
