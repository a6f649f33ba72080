import type { TranscriptEntry } from '../../runtime/runtime.ts'

const UNITS = [
  { ms: 24 * 60 * 60_000, unit: 'd' },
  { ms: 60 * 60_000, unit: 'h' },
  { ms: 60_000, unit: 'min' },
  { ms: 1_000, unit: 's' },
] as const

/** `3 min ago`; a time slightly in the future, from another clock, gives `now`. */
export function ago(at: number, now: number): string {
  const unit = UNITS.find(({ ms }) => now - at >= ms)
  return unit === undefined ? 'now' : `${Math.floor((now - at) / unit.ms)} ${unit.unit} ago`
}

/** `2026-11-15 08:30:00`, in the reader's own time zone, the same in every country. */
export function moment(at: number): string {
  const date = new Date(at)
  const two = (value: number) => String(value).padStart(2, '0')
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-')
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`
}

export function countText(count: number, noun: string, plural = `${noun}s`): string {
  return `${grouped(count)} ${count === 1 ? noun : plural}`
}

/** `12,345`. Intl takes 50 ms for its first number. */
export function grouped(count: number): string {
  const digits = String(count)
  const first = digits.length % 3 || 3
  const groups = [digits.slice(0, first)]
  for (let at = first; at < digits.length; at += 3) groups.push(digits.slice(at, at + 3))
  return groups.join(',')
}

/** `950`, `12.3k`, `4.5M`. */
export function short(count: number): string {
  if (count < 1_000) return String(count)
  if (count < 999_950) return `${(count / 1_000).toFixed(1)}k`
  return `${(count / 1_000_000).toFixed(1)}M`
}

/** The author of an entry, in words for people. */
export function speakerOf(entry: Pick<TranscriptEntry, 'kind' | 'meta' | 'message'>): string {
  if (entry.message?.role === 'user' && entry.message.isSummary) return "client's summary"
  if (entry.kind === 'input') return isNotification(entry) ? 'notification' : 'user'
  return entry.kind === 'assistant' ? 'agent' : entry.kind
}

export function isNotification({ meta }: Pick<TranscriptEntry, 'meta'>): boolean {
  return 'lane' in meta && meta.lane === 'notification'
}
