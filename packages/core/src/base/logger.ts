import { KnownError } from './errors.ts'

/**
 * The log of a process, in the shape of pino and most others. Never contains conversation content.
 */
export interface Logger {
  debug(fields: object, text: string): void
  info(fields: object, text: string): void
  warn(fields: object, text: string): void
  error(fields: object, text: string): void
}

export const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} }

/**
 * An error for a log, which holds no conversation. The message of an error that is not ours may quote a text
 * ("Unexpected token in …"), and its fields may hold a whole request. So a log gets its name, its code
 * and where it was thrown; our own errors say what happened without quoting anyone.
 */
export interface ErrorTrace {
  readonly error: string
  readonly code?: string | number
  readonly message?: string
  readonly frames: readonly string[]
  readonly cause?: ErrorTrace
}

const CAUSES_MAX = 3
const FRAMES_MAX = 10

export function traceOf(error: unknown, causesMax = CAUSES_MAX): ErrorTrace {
  if (!(error instanceof Error)) return { error: typeof error, frames: [] }
  const { name, message, stack = '', cause } = error
  const code = 'code' in error ? error.code : undefined
  const isCode = typeof code === 'number' || (typeof code === 'string' && CODE.test(code))
  return {
    error: NAME.test(name) ? name : 'Error',
    ...(isCode && { code }),
    ...(error instanceof KnownError && { message }),
    // Lines of the message may look like frames.
    frames: stack
      .replace(message, '')
      .split('\n')
      .filter((line) => FRAME.test(line))
      .slice(0, FRAMES_MAX)
      .map((line) => line.trim()),
    ...(cause !== undefined && causesMax > 0 && { cause: traceOf(cause, causesMax - 1) }),
  }
}

const NAME = /^[\w.[\]]{1,60}$/
const CODE = /^[\w.-]{1,60}$/
const FRAME = /^ {4}at (?:[\w$.<>#[\] ]+ \()?(?:node:|file:|\/|[A-Z]:\\).*:\d+:\d+\)?$/
