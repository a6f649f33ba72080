import { availableParallelism, loadavg } from 'node:os'

/** Figures mean little without the machine they were taken on, and what else it did meanwhile. */
export function machineLine(): string {
  const text = JSON.stringify(
    Array.from({ length: 20_000 }, (_, index) => ({ index, text: 'word '.repeat(20) })),
  )
  const started = performance.now()
  for (let round = 0; round < 5; round++) JSON.parse(text)
  const speed = (text.length * 5) / 1e3 / (performance.now() - started)
  return `${availableParallelism()} cores, ${loadLine()}, JSON.parse ${speed.toFixed(0)} MB/s`
}

/** Processes that wanted a core, on average over the last minute. */
export function loadLine(): string {
  return `load ${(loadavg()[0] ?? 0).toFixed(1)}`
}

export function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
}
