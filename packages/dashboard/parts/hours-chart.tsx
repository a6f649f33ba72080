import type { ActiveHour } from '../../server/src/runtime/activity.ts'
import { amountText } from '../../server/src/runtime/usage.ts'
import { Chart, Dot, Legend, WIDTH } from './chart.tsx'
import { Grid } from './table.tsx'
import { costOf, count, hourOf, tokens } from './words.ts'

/** Turns and cost by the hour, as bars, with a table of the same figures. */
const HEIGHT = 64
/** Room above the bars for the marks of compactions. */
const TOP = 10
const GAP = 3

interface Hours {
  readonly hours: readonly ActiveHour[]
}

export function HoursChart({ hours }: Hours) {
  const isPriced = hours.some(({ cost }) => cost > 0)
  const spent = (hour: ActiveHour) => (isPriced ? hour.cost : hour.inputTokens + hour.outputTokens)
  // Sessions of the proxy have model calls and no turns: their program runs the loop.
  const isCalls = hours.every(({ turns }) => turns === 0) && hours.some(({ calls }) => calls > 0)
  return (
    <>
      <div class="hours">
        <Bars
          label={isCalls ? 'Model calls per hour' : 'Turns per hour'}
          hours={hours}
          value={({ turns, calls }) => (isCalls ? calls : turns)}
          words={count}
          part={({ failedTurns }) => failedTurns}
          isMarked={({ compactions }) => compactions > 0}
        />
        <Bars
          label={isPriced ? 'Cost per hour' : 'Tokens per hour'}
          hours={hours}
          value={spent}
          words={isPriced ? amountText : tokens}
        />
      </div>
      <Legend
        marks={{
          model: `${isCalls ? 'model calls' : 'turns'}, ${isPriced ? 'cost' : 'tokens'}`,
          bad: 'failed turns',
          digest: 'compactions',
        }}
      />
      <details>
        <summary>As a table</summary>
        <HoursTable hours={hours} isPriced={isPriced} />
      </details>
    </>
  )
}

function Bars(
  props: Hours & {
    readonly label: string
    readonly value: (hour: ActiveHour) => number
    readonly words: (value: number) => string
    /** The share of the bar in the colour of errors. */
    readonly part?: (hour: ActiveHour) => number
    readonly isMarked?: (hour: ActiveHour) => boolean
  },
) {
  const { label, hours, value, words, part, isMarked } = props
  const [from, middle] = [hours[0], hours[hours.length / 2]]
  const most = Math.max(0, ...hours.map(value))
  const slot = WIDTH / hours.length
  const scale = most === 0 ? 0 : (HEIGHT - TOP) / most
  const busiest = hours.find((hour) => value(hour) === most)
  const summary = `at most ${words(most)}${busiest && most > 0 ? ` at ${hourOf(busiest.at)}` : ''}`
  const times = [from && hourOf(from.at), middle && hourOf(middle.at), 'now']
  return (
    <Chart {...{ label, summary }} height={HEIGHT} times={times.map((time) => time ?? '')}>
      <path class="base" d={`M0 ${HEIGHT}H${WIDTH}`} />
      {hours.map((hour, index) => {
        const [all, bad] = [value(hour) * scale, (part?.(hour) ?? 0) * scale]
        const place = { x: index * slot + GAP / 2, width: slot - GAP }
        return (
          <g>
            <title>{hourWords(hour)}</title>
            <rect class="slot" {...place} y={0} height={HEIGHT} />
            <rect {...place} y={HEIGHT - all} height={all} />
            <rect class="bad" {...place} y={HEIGHT - all} height={bad} />
            {isMarked?.(hour) && (
              <Dot class="digest" x={(index + 0.5) * slot} y={Math.max(4, HEIGHT - all - 6)} />
            )}
          </g>
        )
      })}
    </Chart>
  )
}

function hourWords(hour: ActiveHour): string {
  const { at, turns, failedTurns, compactions } = hour
  return [
    `${hourOf(at)}: ${count(turns)} turns`,
    ...(failedTurns > 0 ? [`${count(failedTurns)} failed`] : []),
    ...(compactions > 0 ? [`${count(compactions)} compactions`] : []),
    ...(hour.calls > 0 ? [costOf(hour) ?? `${tokens(hour.inputTokens)} in`] : []),
  ].join(', ')
}

const HEAD = ['Hour', 'Turns', 'Failed', 'Compactions', 'Model calls', 'Tokens', 'Cost']

/** Newest first, without the hours in which nothing happened. */
function HoursTable({ hours, isPriced }: Hours & { readonly isPriced: boolean }) {
  const busy = hours.filter(({ turns, compactions, calls }) => turns + compactions + calls > 0)
  const rows = busy
    .toReversed()
    .map((hour) => [
      hourOf(hour.at),
      ...[hour.turns, hour.failedTurns, hour.compactions, hour.calls].map(count),
      tokens(hour.inputTokens + hour.outputTokens),
      isPriced ? amountText(hour.cost) : '–',
    ])
  return <Grid head={HEAD} rows={rows} />
}
