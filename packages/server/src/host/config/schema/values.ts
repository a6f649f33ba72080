import { z } from 'zod'

/** Notations for values in the file beyond YAML's own. */

const UNITS: { readonly [unit: string]: number } = { k: 1_000, m: 1_000_000 }
const TOKENS = /^(\d{1,12}(?:_\d{3}){0,4}(?:\.\d{1,6})?)([km]?)$/i

/** `20000`, `20_000`, `20k` or `1.5m`: the same forms as on the command line. */
export function tokens(minimum = 1) {
  const error = `should be a whole number of tokens, ${minimum} or more, such as 20000 or 20k`
  return z
    .union([z.int({ error }).min(minimum, { error }), z.string().regex(TOKENS, { error })], {
      error,
    })
    .transform((value, context) => {
      const number = typeof value === 'number' ? value : numberOf(value)
      if (Number.isSafeInteger(number) && number >= minimum) return number
      context.addIssue({ code: 'custom', message: error, input: value })
      return z.NEVER
    })
}

function numberOf(text: string): number {
  const [, digits = '', unit = ''] = TOKENS.exec(text) ?? []
  return Number(digits.replaceAll('_', '')) * (UNITS[unit.toLowerCase()] ?? 1)
}

export function share() {
  const error = 'should be a share of the window, more than 0 and at most 1, such as 0.75'
  return z.number({ error }).gt(0, { error }).max(1, { error })
}

// Timers are limited to 2^31 ms.
const SECONDS_MAX = 2_000_000

export function seconds(minimum: 'may be zero' | 'more than zero' = 'more than zero') {
  const isZeroFine = minimum === 'may be zero'
  const error = `should be a number of seconds, ${isZeroFine ? 'from 0' : 'more than 0 and'} at most ${SECONDS_MAX}`
  const number = z.number({ error }).max(SECONDS_MAX, { error })
  return isZeroFine ? number.min(0, { error }) : number.gt(0, { error })
}

export function countSchema(minimum: number, maximum: number) {
  const error = `should be a whole number from ${minimum} to ${maximum}`
  return z.int({ error }).min(minimum, { error }).max(maximum, { error })
}

/** The text itself, or `file:` and a path from the folder of the configuration file. */
export const FILE_PREFIX = 'file:'

/** Marks keys that take effect only when the process starts; included in the JSON schema. */
export const RESTART = 'x-restart'
export const needsRestart = { [RESTART]: true } as const
