import { isKept } from './atoms.ts'
import type { Event } from './sessions.ts'

/** Shares are macro averages over the events, tokens are characters / 4 of the whole result. */
export interface Score {
  readonly events: number
  readonly strict: number
  readonly lenient: number
  /** 95% of the bootstrap over events, for the strict share. */
  readonly interval: readonly [number, number]
  readonly tune: number
  readonly test: number
  readonly tokens: number
  readonly lost: readonly { readonly event: string; readonly atoms: readonly string[] }[]
}

export function scoreOf(events: readonly Event[], results: readonly string[]): Score {
  const rows = events.map((event, index) => {
    const result = results[index] ?? ''
    const kept = event.demand.map((atom) => isKept(atom, result))
    return {
      half: event.half,
      strict: kept.filter(({ strict }) => strict).length / kept.length,
      lenient: kept.filter(({ lenient }) => lenient).length / kept.length,
      tokens: result.length / 4,
      lost: { event: event.name, atoms: event.demand.filter((_, at) => !kept[at]?.strict) },
    }
  })
  const shares = rows.map(({ strict }) => strict)
  const strictOf = (half: string) =>
    mean(rows.filter((row) => row.half === half).map(({ strict }) => strict))
  return {
    events: rows.length,
    strict: mean(shares),
    lenient: mean(rows.map(({ lenient }) => lenient)),
    interval: bootstrap(shares),
    tune: strictOf('tune'),
    test: strictOf('test'),
    tokens: mean(rows.map(({ tokens }) => tokens)),
    lost: rows.map(({ lost }) => lost).filter(({ atoms }) => atoms.length > 0),
  }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

const RESAMPLES = 2000

/** With a fixed seed, so that two runs print the same. */
function bootstrap(values: readonly number[]): [number, number] {
  let seed = 1
  const next = () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return seed / 2 ** 32
  }
  const means = Array.from({ length: RESAMPLES }, () =>
    mean(values.map(() => values[Math.floor(next() * values.length)] ?? 0)),
  ).sort((a, b) => a - b)
  return [means[Math.floor(RESAMPLES * 0.025)] ?? 0, means[Math.floor(RESAMPLES * 0.975)] ?? 0]
}
