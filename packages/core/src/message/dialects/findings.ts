import { isArray, isObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { DialectRule } from './rules.ts'

/** One rule that a request breaks, and where. */
export interface Violation {
  readonly rule: DialectRule
  /** A path into the request, such as `messages[12].content[0]`. */
  readonly at: string
  readonly detail: string
}

/** Collects the findings of a checker, which reads only the request's JSON. */
export class WireFindings {
  readonly #violations: Violation[] = []

  get violations(): readonly Violation[] {
    return this.#violations
  }

  add(rule: DialectRule, at: string, detail: string): void {
    this.#violations.push({ rule, at, detail })
  }

  /** The objects of a required list; other items are reported and left out. */
  objects(value: JsonValue | undefined, at: string): readonly Located[] {
    if (!isArray(value)) {
      this.add('shape', at, `expected a list, found ${jsonKindOf(value)}`)
      return []
    }
    const located: Located[] = []
    for (const [index, item] of value.entries()) {
      if (isObject(item)) located.push({ item, at: `${at}[${index}]` })
      else this.add('shape', `${at}[${index}]`, `expected an object, found ${jsonKindOf(item)}`)
    }
    return located
  }
}

export interface Located {
  readonly item: JsonObject
  readonly at: string
}

export function jsonKindOf(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** The text, or a substitute, for comparison and display. */
export function word(value: unknown): string {
  return typeof value === 'string' ? value : jsonKindOf(value)
}

/** Only white space and control characters: servers strip more of them than JavaScript's `trim`. */
export function isBlank(text: string): boolean {
  return !/[^\s\p{Cc}]/u.test(text)
}

/** Every string and key of the request; iterative, because requests may be nested deeply. */
export function findLoneSurrogates(wire: JsonValue, findings: WireFindings): void {
  const stack: { readonly value: JsonValue; readonly at: string }[] = [{ value: wire, at: '' }]
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { value, at } = next
    if (typeof value === 'string') {
      if (!value.isWellFormed()) findings.add('lone-surrogate', at, 'half a surrogate pair')
    } else if (isArray(value)) {
      for (const [index, item] of value.entries()) {
        stack.push({ value: item, at: `${at}[${index}]` })
      }
    } else if (isObject(value)) {
      for (const [key, item] of Object.entries(value)) {
        if (!key.isWellFormed())
          findings.add('lone-surrogate', at, 'half a surrogate pair in a key')
        stack.push({ value: item, at: at === '' ? key : `${at}.${key}` })
      }
    }
  }
}
