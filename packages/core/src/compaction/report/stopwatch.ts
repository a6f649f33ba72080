/** Times the stages of a compaction with a clock that is handed in; without one it does nothing. */
export interface Stopwatch {
  readonly laps: Record<string, number>
  lap(name: string): void
}

export function stopwatch(now: (() => number) | undefined): Stopwatch {
  const laps: Record<string, number> = {}
  let last = now?.() ?? 0
  return {
    laps,
    lap(name) {
      if (now === undefined) return
      const time = now()
      laps[name] = (laps[name] ?? 0) + time - last
      last = time
    },
  }
}
