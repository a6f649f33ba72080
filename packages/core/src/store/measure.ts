import { isId } from '../base/ids.ts'
import { InvalidRequestError } from './errors.ts'
import type { TooLarge } from './operational-rows.ts'

/** Checks that the rules share: ids, times, sizes. */
export function checkName(id: string, what: string): void {
  // Untyped callers may pass a number, which the chain would hash as a different text.
  if (typeof id === 'string' && isId(id)) return
  throw new InvalidRequestError({
    problem: `${what} needs an id of 1 to 64 letters, digits, _ or -.`,
  })
}

export function isMoment(value: number): boolean {
  return isCount(value)
}

/** A number that every engine returns unchanged. */
export function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}

export function bytesOver(text: string, limit: number): TooLarge | null {
  const bytes = Buffer.byteLength(text)
  return bytes > limit ? { kind: 'too-large', bytes, limit } : null
}
