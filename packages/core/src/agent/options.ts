import { ThroughlineError } from '../base/throughline-error.ts'

/** Checks of options: each error names the option, the value and what was expected. */

export function invalidOption(at: string, message: string): ThroughlineError {
  return new ThroughlineError('invalid-option', message, { at })
}

/** A misspelt option would otherwise be ignored in silence. */
export function checkKeys(options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw invalidOption('options', `The options are ${show(options)}, not an object.`)
  }
  const unknown = Object.keys(options).find((key) => !known.includes(key))
  if (unknown === undefined) return
  throw invalidOption(
    unknown,
    `There is no option "${unknown}". The options are ${known.join(', ')}.`,
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
  if (value === undefined || isCount(value, min)) return
  const least = min === 1 ? '' : `, at least ${min.toLocaleString('en')}`
  throw invalidOption(name, `"${name}" is ${show(value)}. It is a number of tokens${least}.`)
}

export function checkCount(name: string, value: unknown, unit: string): void {
  if (value === undefined || isCount(value, 1)) return
  throw invalidOption(name, `"${name}" is ${show(value)}. It is a number of ${unit}, at least 1.`)
}

function isCount(value: unknown, min: number): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= min
}

export function checkOneOf(name: string, value: unknown, known: readonly string[]): void {
  if (value === undefined || known.includes(value as string)) return
  const words = known.map((word) => `"${word}"`).join(' or ')
  throw invalidOption(name, `"${name}" is ${show(value)}. It is ${words}.`)
}

export function checkFunction(name: string, value: unknown): void {
  if (typeof value === 'function') return
  throw invalidOption(name, `"${name}" is ${show(value)}, not a function.`)
}

const SHOWN_MAX = 60

/** A short form of a value for a message. */
export function show(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'object' && value !== null)
    return Array.isArray(value) ? 'an array' : 'an object'
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value)
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text
}
