import { DAY_MS } from '../../base/clock.ts'

/**
 * Days and months in a question, as time ranges. People mention a day on that day or soon after, so
 * each range is extended by two weeks.
 */
const MONTHS = [
  ...['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september'],
  ...['october', 'november', 'december'],
]
const MONTH = `(${MONTHS.map((month) => (month === 'may' ? month : `${month.slice(0, 3)}(?:${month.slice(3)})?`)).join('|')})`
const DAY = '(\\d{1,2})(?:st|nd|rd|th)?'
const DAY_FIRST = new RegExp(`\\b${DAY}(?: of)? ${MONTH}\\b\\.?(?:,? (\\d{4}))?`, 'gi')
const MONTH_FIRST = new RegExp(`\\b${MONTH}\\b\\.?(?: ${DAY}\\b)?(?:,? (\\d{4}))?`, 'gi')
const ISO = /\b(\d{4})-(\d{2})(?:-(\d{2}))?\b/g
const AFTER_MS = 14 * DAY_MS
const STRETCHES_MAX = 100
const QUESTION_CHARACTERS_MAX = 2_000

export interface TimeSpan {
  readonly from: number
  readonly to: number
}

/** `span`: times of the first and last entry; a date without a year means every year in it. */
export function stretchesIn(text: string, span: TimeSpan): readonly TimeSpan[] {
  const found: TimeSpan[] = []
  const add = (year: string | undefined, month: number, day: number) => {
    if (month < 0 || month > 11 || day > 31) return
    const years = year === undefined ? yearsIn(span) : [Number(year)]
    for (const each of years) {
      const from = Date.UTC(each, month, Math.max(1, day))
      const end = day > 0 ? from + DAY_MS : Date.UTC(each, month + 1, 1)
      found.push({ from, to: end + AFTER_MS })
    }
  }
  const rest = text
    .slice(0, QUESTION_CHARACTERS_MAX)
    .replaceAll(DAY_FIRST, (_, day, month, year) => {
      add(year, monthOf(month), Number(day))
      return ' '
    })
  for (const [, month, day, year] of rest.matchAll(MONTH_FIRST)) {
    // "may" is usually a verb, "march" sometimes: alone they are not dates.
    if (day === undefined && year === undefined && /^mar?(y|ch)$/i.test(month ?? '')) continue
    add(year, monthOf(month ?? ''), Number(day ?? 0))
  }
  for (const [, year, month, day] of rest.matchAll(ISO))
    add(year, Number(month) - 1, Number(day ?? 0))
  return found.slice(0, STRETCHES_MAX)
}

function monthOf(name: string): number {
  return MONTHS.findIndex((month) => month.startsWith(name.toLowerCase().slice(0, 3)))
}

function yearsIn({ from, to }: TimeSpan): readonly number[] {
  const first = new Date(from).getUTCFullYear()
  const last = new Date(to).getUTCFullYear()
  return Array.from({ length: Math.min(20, last - first + 1) }, (_, index) => last - index)
}
