import { InvalidArgumentError, Option } from 'commander'

/** An option that takes a whole number within a range. */
export function countOption(
  flags: string,
  description: string,
  { min, max }: { readonly min: number; readonly max: number },
): Option {
  return new Option(flags, description).argParser((text) => parseCount(text, min, max))
}

export function parseCount(text: string, min: number, max: number): number {
  const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  if (!(number >= min && number <= max)) {
    throw new InvalidArgumentError(`Give a whole number from ${min} to ${max}.`)
  }
  return number
}

/** The largest number of an entry or mail. */
export const NUMBER_MAX = 2 ** 31 - 1
const RANGES_MAX = 10_000

/** Expands `3`, `3-7` or `3-7,9` to distinct numbers in ascending order. */
export function parseRanges(text: string): readonly number[] {
  const numbers = new Set<number>()
  for (const piece of text.split(',')) {
    const [, first = '', last = first] = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(piece.trim()) ?? []
    const from = Number(first)
    const to = Number(last)
    if (first === '' || from < 1 || from > to || to > NUMBER_MAX) {
      throw new InvalidArgumentError('Give a list of entries such as 3, 3-7 or 3-7,9.')
    }
    if (numbers.size + to - from >= RANGES_MAX) {
      throw new InvalidArgumentError(`Name at most ${RANGES_MAX} entries at once.`)
    }
    for (let number = from; number <= to; number++) numbers.add(number)
  }
  return [...numbers].sort((a, b) => a - b)
}

const SPANS: { readonly [unit: string]: number } = {
  s: 1_000,
  m: 60_000,
  h: 60 * 60_000,
  d: 24 * 60 * 60_000,
}

/** `90s`, `15m`, `12h`, `30d`, in milliseconds. */
export function parseSpan(text: string): number {
  const [, digits = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text.trim()) ?? []
  const ms = Number(digits) * (SPANS[unit] ?? Number.NaN)
  if (!(ms > 0)) throw new InvalidArgumentError('Give a time such as 90s, 15m, 12h or 30d.')
  return ms
}
