import { createHmac, timingSafeEqual } from 'node:crypto'
import { KnownError } from '#core/base/errors'
import type { SessionId } from '#core/base/ids'
import type { RouteAddress } from '../../runtime/runtime.ts'

/**
 * Notifications from other programs, signed as Standard Webhooks specifies (symmetric, `v1`):
 * HMAC-SHA256 over id, timestamp and the raw body, with any of several secrets, so that one can be
 * rotated. The id becomes the idempotency key, so a redelivery changes nothing.
 */
export interface HookOptions {
  readonly name: string
  /** Any of them may sign: `whsec_` and the key in base64. An empty list refuses every request. */
  readonly secrets: readonly string[]
  /** The session that receives the notifications. */
  readonly to: RouteAddress | { readonly sessionId: SessionId }
}

export interface Hook extends Pick<HookOptions, 'name' | 'to'> {
  readonly keys: readonly Buffer[]
}

export interface Signed {
  readonly id: string
  readonly timestamp: string
  /** `v1,BASE64`; several are separated by spaces. */
  readonly signature: string
  readonly bytes: Uint8Array
}

export class HookSecretError extends KnownError {
  override readonly name = 'HookSecretError'
  readonly code = 'invalid-hook-secret'
  readonly retryable = false

  constructor(hook: string) {
    super(
      `The secret of the hook ${hook} is not in the form of Standard Webhooks: \`whsec_\` and at least ` +
        `${KEY_BYTES_MIN} bytes in base64. Create one: echo "whsec_$(openssl rand -base64 32)"`,
    )
  }
}

const AGE_MS_MAX = 5 * 60_000
const ID = /^[\x21-\x7e]{1,200}$/
/**
 * The signature covers `id.timestamp.body`. Parted at other dots, one signed text would be two
 * deliveries, and each would be accepted once. It has one reading if no part of an id behind a dot
 * could be a timestamp.
 */
const AMBIGUOUS_ID = /\.\d{1,12}(?:\.|$)/
const TIMESTAMP = /^\d{1,12}$/
const SECRET = /^(?:whsec_)?([A-Za-z0-9+/]+={0,2})$/
const KEY_BYTES_MIN = 24

export function readHook({ name, secrets, to }: HookOptions): Hook {
  const keys = secrets.map((secret) => Buffer.from(SECRET.exec(secret)?.[1] ?? '', 'base64'))
  if (keys.some(({ length }) => length < KEY_BYTES_MIN)) throw new HookSecretError(name)
  return { name, to, keys }
}

export function isAmbiguous({ id }: Pick<Signed, 'id'>): boolean {
  return AMBIGUOUS_ID.test(id)
}

export function isGenuine(signed: Signed, keys: Hook['keys'], now: number): boolean {
  const { id, timestamp, signature } = signed
  if (!ID.test(id) || isAmbiguous(signed) || !TIMESTAMP.test(timestamp)) return false
  if (Math.abs(now - Number(timestamp) * 1_000) > AGE_MS_MAX) return false
  const given = signature
    .split(' ')
    .filter((each) => each.startsWith('v1,'))
    .map((each) => Buffer.from(each.slice(3), 'base64'))
  return keys
    .map((key) => sign(signed, key))
    .some((wanted) => given.some((each) => isSame(each, wanted)))
}

export function sign({ id, timestamp, bytes }: Omit<Signed, 'signature'>, key: Buffer): Buffer {
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(bytes).digest()
}

function isSame(left: Buffer, right: Buffer): boolean {
  return left.length === right.length && timingSafeEqual(left, right)
}
