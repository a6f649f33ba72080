import { useEffect, useRef } from 'preact/hooks'
import Plot from 'uplot'
import 'uplot/dist/uPlot.min.css'

/** Tokens of a context over time: they rise with what is said and fall with every compaction. */
export interface Point {
  /** Milliseconds. */
  readonly at: number
  readonly tokens: number
}

const HEIGHT = 240

export function SawTooth(props: {
  readonly points: readonly Point[]
  readonly windowTokens: number
}) {
  const { points, windowTokens } = props
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = box.current
    if (element === null || points.length === 0) return
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    let plot = draw(element, points, windowTokens)
    const again = () => {
      plot.destroy()
      plot = draw(element, points, windowTokens)
    }
    const resized = new ResizeObserver(() =>
      plot.setSize({ width: element.clientWidth, height: HEIGHT }),
    )
    resized.observe(element)
    scheme.addEventListener('change', again)
    return () => {
      resized.disconnect()
      scheme.removeEventListener('change', again)
      plot.destroy()
    }
  }, [points, windowTokens])
  const newest = points.at(-1)?.tokens ?? 0
  const label = `Tokens of the context over time, ${points.length} points, now ${newest}`
  return <div class="chart" ref={box} role="img" aria-label={label} />
}

function draw(element: HTMLElement, points: readonly Point[], windowTokens: number): Plot {
  const colour = (name: string) => getComputedStyle(element).getPropertyValue(name).trim()
  const [ink, line, grid, warn] = ['--dim', '--accent', '--line', '--warn'].map(colour)
  const axis = { stroke: ink ?? '', grid: { stroke: grid ?? '', width: 1 }, ticks: { show: false } }
  return new Plot(
    {
      width: element.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { y: false },
      scales: { y: { range: (_, __, max) => [0, Math.max(max, windowTokens) * 1.05] } },
      axes: [axis, { ...axis, size: 64, values: (_, ticks) => ticks.map((tick) => `${Math.round(tick / 100) / 10}k`) }],
      series: [
        {},
        { label: 'tokens', stroke: line ?? '', width: 2, fill: `${line}22`, points: { show: points.length < 100 } },
        { label: 'window', stroke: warn ?? '', width: 1, dash: [6, 6], points: { show: false } },
      ],
    },
    [
      points.map(({ at }) => at / 1_000),
      points.map(({ tokens }) => tokens),
      points.map(() => windowTokens),
    ],
    element,
  )
}
