import { isId } from '../base/ids.ts'
import { InvalidRequestError } from './errors.ts'
import type { TooLarge } from './standing.ts'

/** What the rules ask of ids, moments and sizes. */
export function checkName(id: string, what: string): void {
  if (isId(id)) return
  throw new InvalidRequestError({ problem: `${what} is named like a session id.` })
}

export function isMoment(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}

export function bytesOver(text: string, limit: number): TooLarge | null {
  const bytes = Buffer.byteLength(text)
  return bytes > limit ? { kind: 'too-large', bytes, limit } : null
}
