import type { SessionSummary } from '../../server/src/runtime/runtime.ts'
import { amountText } from '../../server/src/runtime/usage.ts'
import { now } from '../data/clock.ts'

/** Numbers, times and states as text. */
const small = new Intl.NumberFormat('en')
const minutes = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
const clock = new Intl.DateTimeFormat('en', minutes)
const day = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' })
const whole = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' })

export const count = (value: number): string => small.format(value)

export function tokens(value: number): string {
  if (value < 1_000) return `${value}`
  if (value < 100_000) return `${(value / 1_000).toFixed(1)}k`
  return `${Math.round(value / 1_000)}k`
}

export const percent = (part: number, all: number): number =>
  all <= 0 ? 0 : Math.min(100, Math.round((part / all) * 100))

export function moment(at: number): string {
  return now.value - at < 20 * 3_600_000
    ? clock.format(at)
    : `${day.format(at)}, ${clock.format(at)}`
}
const seconds = new Intl.DateTimeFormat('en', { ...minutes, second: '2-digit' })
export const hourOf = (at: number): string => clock.format(at)
export const second = (at: number): string => seconds.format(at)
export const exactly = (at: number): string => whole.format(at)

export function ago(at: number): string {
  const seconds = Math.max(0, Math.round((now.value - at) / 1_000))
  if (seconds < 5) return 'now'
  if (seconds < 60) return `${seconds} s ago`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`
  return `${Math.floor(seconds / 86_400)} d ago`
}

export function duration(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`
}

/** In the largest fitting unit: seconds, minutes or hours. */
export function span(ms: number): string {
  if (ms < 60_000) return duration(ms)
  const minutes = Math.round(ms / 60_000)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

export const money = (millionths: number): string => `cost ${amountText(millionths)}`

/** A plus means that calls without a known price are not included. Null: no price is known. */
export function costOf(usage: SessionSummary['usage']): string | null {
  const { calls, unpricedCalls, cost } = usage
  if (calls === unpricedCalls || (cost === 0 && unpricedCalls > 0)) return null
  return `${money(cost)}${unpricedCalls > 0 ? '+' : ''}`
}

export function usageWords(usage: SessionSummary['usage']): string {
  const { inputTokens, cachedTokens, outputTokens } = usage
  const cached = cachedTokens > 0 ? ` (${tokens(cachedTokens)} cached)` : ''
  const cost = costOf(usage)
  return `${tokens(inputTokens)} in${cached}, ${tokens(outputTokens)} out${cost === null ? '' : `, ${cost}`}`
}

export function bytes(value: number): string {
  if (value < 1024) return `${value} B`
  if (value < 1024 ** 2) return `${(value / 1024).toFixed(1)} KB`
  if (value < 1024 ** 3) return `${(value / 1024 ** 2).toFixed(1)} MB`
  return `${(value / 1024 ** 3).toFixed(2)} GB`
}

export const WRITERS: Readonly<Record<string, string>> = {
  model: 'a model',
  digest: 'the built-in digest (no model)',
  rewrite: 'a model, replacing a digest',
  clearing: 'nobody: old tool results were cleared',
}
export const TRIGGERS: Readonly<Record<string, string>> = {
  background: 'In the background',
  idle: 'While idle',
  imported: 'Came with the conversation',
  manual: 'Requested',
  preflight: 'Before a step that would not fit',
  reactive: 'After the provider refused the request',
}
export const RUNGS: Readonly<Record<string, string>> = {
  provider: "the provider's own compaction",
  prefix: "the conversation's own route, with its cached prompt",
  auxiliary: 'the summary route',
  fresh: 'the summary route, on a new connection',
  main: 'the main route, after the summary route failed',
  digest: 'no model: the built-in digest, after all routes failed',
}

type Activity = 'idle' | 'turn' | 'preparing' | 'waiting' | 'paused' | 'failed' | 'left' | 'gone'

export function activityOf({ state, isCompacting, lastTurn, left }: SessionSummary): Activity {
  if (state === 'gone') return 'gone'
  if (left !== null) return 'left'
  if (state === 'waiting-for-approval') return 'paused'
  if (state.startsWith('waiting-for-')) return 'waiting'
  if (state === 'turn') return 'turn'
  if (lastTurn === 'failed') return 'failed'
  return isCompacting ? 'preparing' : 'idle'
}

export function isBusy(summary: SessionSummary): boolean {
  return !['idle', 'failed', 'left', 'gone'].includes(activityOf(summary))
}

export function activityWords(summary: SessionSummary): string {
  const { state, isCompacting, lastTurn, left } = summary
  const also = isCompacting ? ', preparing a handoff' : ''
  switch (state) {
    case 'gone':
      return 'deleted'
    case 'waiting-for-compaction':
      return 'waiting for a compaction'
    case 'waiting-for-model':
      return 'waiting for the model'
    case 'waiting-for-approval':
      return 'paused at a spending limit'
    case 'turn':
      return `working on turn ${summary.turn}${also}`
    case 'idle':
      if (left !== null) return 'left: its client goes on from the handoff in its own log'
      if (lastTurn === 'failed') return `idle; turn ${summary.turn} failed${also}`
      return isCompacting ? 'idle, preparing a handoff' : 'idle'
  }
}
