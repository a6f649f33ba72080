import { Cron } from 'croner'
import { clip } from '#core/base/line'

/**
 * How a schedule repeats, as one text in the store: `every 3600000` (milliseconds) or `cron
 * Europe/Berlin 0 9 * * 1-5`. Pure: the same text and moment give the same next moment.
 */
export type Repeat =
  | { readonly kind: 'every'; readonly everyMs: number }
  | { readonly kind: 'cron'; readonly pattern: string; readonly timezone: string }

export const EVERY_MS_MIN = 60_000

export function writeRepeat(repeat: Repeat): string {
  return repeat.kind === 'every'
    ? `every ${repeat.everyMs}`
    : `cron ${repeat.timezone} ${repeat.pattern}`
}

export function readRepeat(text: string): Repeat | undefined {
  const [kind, second = '', ...rest] = text.split(' ')
  if (kind === 'every') {
    const everyMs = Number(second)
    return Number.isInteger(everyMs) && everyMs > 0 ? { kind, everyMs } : undefined
  }
  if (kind !== 'cron') return undefined
  const repeat = { kind, timezone: second, pattern: rest.join(' ') } as const
  return cronProblem(repeat) === null ? repeat : undefined
}

/** Null: it is valid. */
export function cronProblem({
  pattern,
  timezone,
}: Extract<Repeat, { kind: 'cron' }>): string | null {
  // Five fields: a pattern with seconds would wake a model every second.
  if (pattern.trim().split(/\s+/).length !== 5) {
    return 'A cron text has five fields: minute hour day month weekday.'
  }
  if (!isTimezone(timezone)) {
    return `There is no time zone ${clip(timezone, 64)}; give a name such as Europe/Berlin.`
  }
  try {
    const next = new Cron(pattern, { timezone, mode: '5-part' }).nextRun(new Date(0))
    return next === null ? 'That never comes.' : null
  } catch (error) {
    return error instanceof Error ? error.message : 'That cannot be read.'
  }
}

function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** The first moment after `after`; null: never again. */
export function nextDue(repeat: Repeat, dueAt: number, after: number): number | null {
  if (repeat.kind === 'cron') {
    const { pattern, timezone } = repeat
    const next = new Cron(pattern, { timezone, mode: '5-part' }).nextRun(new Date(after))
    return next?.getTime() ?? null
  }
  const missed = Math.max(0, Math.floor((after - dueAt) / repeat.everyMs))
  return dueAt + (missed + 1) * repeat.everyMs
}

/** The first moment after `after` in the series that includes `dueAt`; null: there is none. */
export function firstDue(repeat: Repeat, dueAt: number, after: number): number | null {
  if (repeat.kind === 'cron') return nextDue(repeat, dueAt, after)
  const between = Math.ceil((dueAt - after) / repeat.everyMs) - 1
  return dueAt - between * repeat.everyMs
}
