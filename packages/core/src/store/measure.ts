import { isId } from '../base/ids.ts'
import { InvalidRequestError } from './errors.ts'
import type { TooLarge } from './operational-rows.ts'

/** The rules' checks of ids, times and sizes. */
export function checkName(id: string, what: string): void {
  // The type is what a caller without types leaves out; a number would be another text in the chain.
  if (typeof id === 'string' && isId(id)) return
  throw new InvalidRequestError({ problem: `${what} is named like a session id.` })
}

export function isMoment(value: number): boolean {
  return isCount(value)
}

/** A number that every engine gives back as it was. */
export function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}

export function bytesOver(text: string, limit: number): TooLarge | null {
  const bytes = Buffer.byteLength(text)
  return bytes > limit ? { kind: 'too-large', bytes, limit } : null
}
