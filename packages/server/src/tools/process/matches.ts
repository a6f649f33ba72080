import { RE2JS } from 're2js'
import { clip, oneLine } from '#core/base/line'

/**
 * Which lines of a program's output are worth a notification, and when. Patterns run in linear time
 * (RE2). A program that matches constantly notifies rarely and says how much it left out.
 *
 * Pure except for its own count: lines and times in, notices out.
 */
export interface NoticeLimits {
  /** The least time between two notices of one program. */
  readonly intervalMs: number
  readonly noticesMax: number
}

export const NOTICE_LIMITS: NoticeLimits = { intervalMs: 10_000, noticesMax: 100 }

export const PATTERNS_MAX = 4
export const PATTERN_CHARACTERS_MAX = 300
/**
 * Only this much of a longer line is matched, because the cost of a pattern grows with the line.
 */
export const LINE_CHARACTERS_MAX = 1_000
/**
 * Instructions of all patterns together. Linear time can still be slow: each character may visit
 * every instruction, and `\pL{1000}` took hundreds of milliseconds a line on a busy machine.
 */
export const PROGRAM_SIZE_MAX = 600

export type Patterns =
  | { readonly kind: 'compiled'; readonly patterns: readonly RE2JS[] }
  | { readonly kind: 'refused'; readonly pattern: string; readonly problem: string }

export function compilePatterns(texts: readonly string[]): Patterns {
  const patterns: RE2JS[] = []
  let size = 0
  for (const pattern of texts) {
    try {
      const compiled = RE2JS.compile(pattern)
      size += compiled.programSize()
      if (size > PROGRAM_SIZE_MAX) {
        return { kind: 'refused', pattern, problem: 'too costly; use fewer or smaller repeats' }
      }
      patterns.push(compiled)
    } catch (error) {
      const problem = error instanceof Error ? error.message : 'it cannot be read'
      return { kind: 'refused', pattern, problem }
    }
  }
  return { kind: 'compiled', patterns }
}

export interface MatchNotice {
  readonly pattern: string
  readonly line: string
  /** Matches since the last notice that had none of their own. */
  readonly suppressed: number
}

export class Matches {
  readonly #patterns: readonly RE2JS[]
  readonly #limits: NoticeLimits
  #told = 0
  #toldAt = Number.NEGATIVE_INFINITY
  #waiting: MatchNotice | null = null

  constructor(patterns: readonly RE2JS[], limits: NoticeLimits) {
    this.#patterns = patterns
    this.#limits = limits
  }

  get isNeeded(): boolean {
    return this.#patterns.length > 0
  }

  take(line: string): void {
    const seen = line.slice(0, LINE_CHARACTERS_MAX)
    const pattern = this.#patterns.find((each) => each.matcher(seen).find())
    if (pattern === undefined) return
    const suppressed = this.#waiting === null ? 0 : this.#waiting.suppressed + 1
    const displayed = clip(oneLine(seen), NOTICE_CHARACTERS_MAX)
    this.#waiting = { pattern: pattern.pattern(), line: displayed, suppressed }
  }

  /** When the next notice may go; null: there is none to send. */
  dueAt(): number | null {
    if (this.#waiting === null || this.#told >= this.#limits.noticesMax) return null
    return this.#toldAt + this.#limits.intervalMs
  }

  /** The notice that is due now, if any. Once taken it counts as sent. */
  next(now: number): MatchNotice | null {
    const dueAt = this.dueAt()
    if (dueAt === null || now < dueAt) return null
    const notice = this.#waiting
    this.#waiting = null
    this.#told++
    this.#toldAt = now
    return notice
  }

  /** Call this if it could not be delivered: it counts as suppressed, and the next one says so. */
  putBack(notice: MatchNotice): void {
    const suppressed =
      notice.suppressed + (this.#waiting === null ? 0 : this.#waiting.suppressed + 1)
    this.#waiting = { ...(this.#waiting ?? notice), suppressed }
    this.#told--
  }

  /** Unreported matches, for the last notice about a program. */
  get unreported(): number {
    return this.#waiting === null ? 0 : this.#waiting.suppressed + 1
  }
}

const NOTICE_CHARACTERS_MAX = 500
