import { type Metric, Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { collectProcessMetrics } from '../loop-lag.ts'

const NAMES = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99']

it('names how long the event loop was held up since the last reading, in seconds', async () => {
  const registry = new Registry()
  collectProcessMetrics(registry)
  const ofLag = async () => {
    const metrics = NAMES.map(
      (name) => registry.getSingleMetric(`nodejs_eventloop_lag_${name}_seconds`) as Metric,
    )
    // All are asked for at once, as a scrape does.
    const read = await Promise.all(metrics.map((metric) => metric.get()))
    expect(read.map(({ help }) => help)).toEqual(
      NAMES.map((name) => `Delay of the event loop since the last reading (${name}).`),
    )
    return read.map(({ values }) => values[0]?.value ?? Number.NaN)
  }
  const rest = () => new Promise((resolve) => setImmediate(resolve))
  await rest()
  await rest()
  // The loop is held up once, for a tenth of a second.
  const end = performance.now() + 100
  while (performance.now() < end);
  for (let turn = 0; turn < 5; turn++) await rest()
  const [first, second] = await Promise.all([ofLag(), ofLag()])
  const [min = 0, max = 0, mean = 0, stddev = 0, p50 = 0, p90 = 0, p99 = 0] = first
  expect(max).toBeGreaterThan(0.09)
  expect(max).toBeLessThan(60)
  expect(p50).toBeLessThanOrEqual(p90)
  expect(p90).toBeLessThanOrEqual(p99)
  expect([min < mean, mean < max, min < max, 0 < stddev, stddev < max]).toEqual([
    ...[true, true, true, true, true],
  ])
  // Read in the same turn of the loop: there was no sample since.
  expect(second).toEqual(NAMES.map(() => 0))
})
