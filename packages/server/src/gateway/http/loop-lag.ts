import { monitorEventLoopDelay } from 'node:perf_hooks'
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client'

type Delays = ReturnType<typeof monitorEventLoopDelay>

/** The longest period of a timer. */
const NEVER_MS = 2 ** 31 - 1

const FIGURES: Readonly<Record<string, (delays: Delays) => number>> = {
  min: ({ min }) => min,
  max: ({ max }) => max,
  mean: ({ mean }) => mean,
  stddev: ({ stddev }) => stddev,
  p50: (delays) => delays.percentile(50),
  p90: (delays) => delays.percentile(90),
  p99: (delays) => delays.percentile(99),
}

/**
 * The figures of the process that prom-client knows. Its measurement of the event loop's delay wakes
 * the process a hundred times a second, also when there is nothing to do. Ours replaces it under the
 * same names and takes one sample in each turn of the loop.
 */
export function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER_MS })
  const delays = monitorEventLoopDelay({ samplePerIteration: true })
  delays.enable()
  // The first sample contains a wait for events.
  setImmediate(() => delays.reset())
  const gauges = Object.keys(FIGURES).map((figure, index) => {
    const name = `nodejs_eventloop_lag_${figure}_seconds`
    registry.removeSingleMetric(name)
    const help = `Delay of the event loop since the last reading (${figure}).`
    // The first one to be read sets all of them.
    return new Gauge({ name, help, registers: [registry], ...(index === 0 && { collect }) })
  })
  function collect(): void {
    for (const [index, read] of Object.values(FIGURES).entries()) {
      gauges[index]?.set(delays.count === 0 ? 0 : read(delays) / 1e9)
    }
    delays.reset()
  }
}
