/**
 * `npm run bench:pause [-- --summary-ms 60000 --compactions 3 --pace-ms 2000]`: the time from a message
 * to the first word of its answer, away from a compaction and at one, while a summary takes as long
 * as real ones do. Beside it in the same run: the blocking way, which begins when nothing fits.
 *
 * With `--outrun` instead: messages of 1,000 tokens every 1.5 s into a window of 12,000, and a summary
 * that takes 20 s. Beside it the old way, which waited for the model: it must be found too slow.
 */
import { parseArgs } from 'node:util'
import { measureOutrun } from '../../test/journeys/outrun.ts'
import { measurePause, type Paused } from '../../test/journeys/pause.ts'
import { loadLine, machineLine, quantile } from './machine.ts'

const DIFFERENCE_MS_MAX = 100
/** Of a normal answer, for the slowest one. */
const SLOWEST_MAX = 1.2

const { values } = parseArgs({
  options: {
    'summary-ms': { type: 'string', default: '60000' },
    'pace-ms': { type: 'string', default: '2000' },
    compactions: { type: 'string', default: '3' },
    outrun: { type: 'boolean', default: false },
  },
})
const terms = {
  store: 'sqlite',
  summaryMs: Number(values['summary-ms']),
  paceMs: Number(values['pace-ms']),
  compactions: Number(values.compactions),
} as const

if (values.outrun) {
  await outrun()
  process.exit()
}
console.log(`${machineLine()}; a summary takes ${terms.summaryMs / 1_000} s`)
const [background, blocking] = await Promise.all([
  measurePause({ ...terms, way: 'background' }),
  measurePause({ ...terms, way: 'blocking' }),
])
print('in the background', background)
print('blocking', blocking)
const difference = quantile(background.boundary, 0.99) - quantile(background.away, 0.99)
const middle = quantile(background.boundary, 0.5) - quantile(background.away, 0.5)
console.log(`difference in the background: p50 ${ms(middle)}, p99 ${ms(difference)}; ${loadLine()}`)
const isOnce = blocking.waits === blocking.compactions && blocking.notices === blocking.waits
const isQuiet = background.waits === 0 && background.notices === 0
const holds = difference <= DIFFERENCE_MS_MAX && isOnce && isQuiet
console.log(
  holds ? 'holds' : `does not hold (at most ${DIFFERENCE_MS_MAX} ms, one wait, one notice)`,
)
process.exitCode = holds ? 0 : 1

async function outrun(): Promise<void> {
  console.log(machineLine())
  const shared = { store: 'sqlite', summaryMs: 20_000, paceMs: 1_500, messages: 40 } as const
  for (const atHardLimit of ['digest', 'wait'] as const) {
    const { answersMs, compactions, waits } = await measureOutrun({ ...shared, atHardLimit })
    // The first answer of a process loads what all later ones find.
    const [, ...warm] = answersMs
    const normal = quantile(warm, 0.5)
    const slowest = Math.max(...warm)
    const times = slowest / normal
    console.log(
      `${atHardLimit}: answer p50 ${ms(normal)}, slowest ${ms(slowest)}, ${times.toFixed(1)} times; ` +
        `${compactions} compactions, turns waited for ${waits}; ${loadLine()}`,
    )
    const isAsExpected = times <= SLOWEST_MAX === (atHardLimit === 'digest')
    if (isAsExpected) continue
    console.log(
      `does not hold (${atHardLimit}: at most ${SLOWEST_MAX} times, and more with "wait")`,
    )
    process.exitCode = 1
  }
}

function print(name: string, { away, boundary, waits, notices, compactions }: Paused): void {
  const line = (what: string, numbers: readonly number[]) =>
    `${what} p50 ${ms(quantile(numbers, 0.5))}, p99 ${ms(quantile(numbers, 0.99))} of ${numbers.length}`
  console.log(
    `${name}: ${line('away', away)}; ${line('at a compaction', boundary)}; ` +
      `${compactions} compactions, ${waits} waits, ${notices} notices`,
  )
}

function ms(number: number): string {
  return `${number.toFixed(0)} ms`
}
