import { ThroughlineError } from './throughline-error.ts'

/** Checks of options and arguments: each error names the option, the value and what was expected. */

export function invalidOption(at: string, message: string): ThroughlineError {
  return new ThroughlineError('invalid-option', message, { at })
}

/** A misspelt option would otherwise be ignored in silence. */
export function checkKeys(options: unknown, known: readonly string[], at = 'options'): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw invalidOption(at, `"${at}" is ${show(options)}. Give an object.`)
  }
  const unknown = Object.keys(options).find((key) => !known.includes(key))
  if (unknown === undefined) return
  const inside = at === 'options' ? '' : ` in "${at}"`
  throw invalidOption(
    at === 'options' ? unknown : `${at}.${unknown}`,
    `There is no option "${unknown}"${inside}. The options are ${known.join(', ')}.`,
  )
}

const KEY_CHARACTERS_MAX = 200

export function checkKey(key: unknown): void {
  if (typeof key === 'string' && key !== '' && key.length <= KEY_CHARACTERS_MAX) return
  throw invalidOption(
    'key',
    `"key" is ${show(key)}. It is a text of 1 to ${KEY_CHARACTERS_MAX} characters that names this message.`,
  )
}

const TOKENS_MIN = 1_000

export function checkTokens(name: string, value: unknown, min: number = TOKENS_MIN): void {
  if (value === undefined || isWhole(value, min)) return
  const least = min <= 1 ? '' : `, at least ${min.toLocaleString('en')}`
  throw invalidOption(name, `"${name}" is ${show(value)}. It is a number of tokens${least}.`)
}

/** A part of the window that is larger than all of it is a number of another model. */
export function checkBelowWindow(name: string, value?: number, contextWindow?: number): void {
  if (value === undefined || contextWindow === undefined || value <= contextWindow) return
  throw invalidOption(
    name,
    `"${name}" is ${value}, but the whole "contextWindow" is ${contextWindow}.`,
  )
}

export function checkCount(name: string, value: unknown, unit: string): void {
  if (value === undefined || isWhole(value, 1)) return
  throw invalidOption(name, `"${name}" is ${show(value)}. It is a number of ${unit}, at least 1.`)
}

/** The maximum of a timer; longer delays would fire at once. */
const DELAY_MS_MAX = 2 ** 31 - 1

export function checkDelay(name: string, value: unknown): void {
  checkCount(name, value, 'milliseconds')
  if (value === undefined || isWhole(value, 1, DELAY_MS_MAX)) return
  throw invalidOption(
    name,
    `"${name}" is ${show(value)}. It is at most ${DELAY_MS_MAX} milliseconds (24 days).`,
  )
}

/** A number that the library issued: of an entry, a message or an event. */
export function checkNumber(name: string, value: unknown, min: 0 | 1 = 1): void {
  if (isWhole(value, min)) return
  throw invalidOption(name, `"${name}" is ${show(value)}. It is a whole number, at least ${min}.`)
}

function isWhole(value: unknown, min: number, max: number = Number.MAX_SAFE_INTEGER): boolean {
  return Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max
}

export function checkOneOf(name: string, value: unknown, known: readonly string[]): void {
  if (value === undefined || known.includes(value as string)) return
  const words = known.map((word) => `"${word}"`).join(', ')
  throw invalidOption(name, `"${name}" is ${show(value)}. It is one of ${words}.`)
}

export function checkString(name: string, value: unknown): void {
  if (value === undefined || typeof value === 'string') return
  throw invalidOption(name, `"${name}" is ${show(value)}, not a string.`)
}

/** A required text that is not empty. */
export function checkText(name: string, value: unknown): void {
  if (typeof value === 'string' && value !== '') return
  throw invalidOption(name, `"${name}" is ${show(value)}. Give a text that is not empty.`)
}

export function checkFunction(name: string, value: unknown): void {
  if (typeof value === 'function') return
  throw invalidOption(name, `"${name}" is ${show(value)}, not a function.`)
}

/** Passing the controller instead of its signal is the usual mistake. */
export function checkSignal(value: unknown): void {
  if (value === undefined || value instanceof AbortSignal) return
  throw invalidOption(
    'signal',
    `"signal" is ${show(value)}, not an AbortSignal. Of a controller, give \`controller.signal\`.`,
  )
}

const SHOWN_MAX = 60

/** A short form of a value for a message. */
export function show(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  if (value instanceof Promise) return 'a promise (await it first)'
  if (typeof value === 'object' && value !== null)
    return Array.isArray(value) ? 'an array' : 'an object'
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value)
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text
}
