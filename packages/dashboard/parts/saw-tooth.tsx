import type { Mark, Point } from '../data/tooth.ts'
import { Chart, Dot, Legend, WIDTH } from './chart.tsx'
import { count, moment, second, tokens } from './words.ts'

const HEIGHT = 160
/** Room for the upper half of a mark. */
const TOP = 8
const LOOKS = {
  model: 'written by a model',
  digest: 'written without a model',
  failed: 'failed',
} as const
const LEGEND = { ...LOOKS, wait: 'a turn waited', window: 'the window' }
/** Below this, the times at both ends would read the same without seconds. */
const SHORT_MS = 180_000

export function SawTooth(props: {
  readonly points: readonly Point[]
  readonly marks: readonly Mark[]
  readonly windowTokens: number
}) {
  const { points, marks, windowTokens } = props
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined) return null
  const span = Math.max(1, last.at - first.at)
  const most = Math.max(1, windowTokens, ...points.map((point) => point.tokens))
  const x = (at: number) => round((Math.max(0, at - first.at) / span) * WIDTH)
  const y = (value: number) => round(HEIGHT - (value / most) * (HEIGHT - TOP))
  const line = points.map((point) => `${x(point.at)} ${y(point.tokens)}`).join('L')
  const time = span < SHORT_MS ? second : moment
  const made = `${count(marks.length)} ${marks.length === 1 ? 'compaction' : 'compactions'}`
  return (
    <>
      <Chart
        label="Tokens of the context"
        summary={`now ${tokens(last.tokens)} of ${tokens(windowTokens)}, ${made}`}
        height={HEIGHT}
        times={[0, 0.5, 1].map((share) => time(first.at + share * span))}
      >
        {marks.map(({ at, waitMs }) => (
          <path class="wait" d={`M${x(at - waitMs)} 0H${x(at)}V${HEIGHT}H${x(at - waitMs)}Z`} />
        ))}
        <path class="base" d={`M0 ${HEIGHT}H${WIDTH}`} />
        <path class="area" d={`M${x(first.at)} ${HEIGHT}L${line}V${HEIGHT}Z`} />
        <path class="line" d={`M${line}`} />
        <path class="window" d={`M0 ${y(windowTokens)}H${WIDTH}`} />
        {marks.map((mark) => (
          <g>
            <title>{`${moment(mark.at)}: ${tokens(Math.round(mark.tokens))}, ${LOOKS[mark.look]}`}</title>
            <Dot class={`${mark.look} edge`} x={x(mark.at)} y={y(mark.tokens)} />
            <Dot class={mark.look} x={x(mark.at)} y={y(mark.tokens)} />
          </g>
        ))}
      </Chart>
      <Legend marks={LEGEND} />
    </>
  )
}

const round = (value: number) => Math.round(value * 10) / 10
