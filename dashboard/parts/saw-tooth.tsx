import { useEffect, useRef, useState } from 'preact/hooks'
import type Plot from 'uplot'
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
  const [draw, setDraw] = useState<Draw | null>(null)
  const [isBroken, setBroken] = useState(false)
  useEffect(() => {
    const element = box.current
    if (element === null || points.length === 0) return
    if (draw === null) {
      void load().then(
        (loaded) => setDraw(() => loaded),
        () => setBroken(true),
      )
      return
    }
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
  }, [points, windowTokens, draw])
  const newest = points.at(-1)?.tokens ?? 0
  const label = `Tokens of the context over time, ${points.length} points, now ${newest}`
  if (isBroken)
    return <p class="dim">This browser cannot draw the chart; the table below has it.</p>
  return <div class="chart" ref={box} role="img" aria-label={label} />
}

type Draw = (element: HTMLElement, points: readonly Point[], windowTokens: number) => Plot

/**
 * The plotting library comes when it is needed. It fails to load in a browser whose language is no
 * language (`en-US@posix`, as in containers); the rest of the page must not fail with it.
 */
async function load(): Promise<Draw> {
  const { default: Library } = await import('uplot')
  return (element, points, windowTokens) => drawWith(Library, element, points, windowTokens)
}

function drawWith(
  Library: typeof Plot,
  element: HTMLElement,
  points: readonly Point[],
  windowTokens: number,
): Plot {
  const colour = (name: string) => getComputedStyle(element).getPropertyValue(name).trim()
  const [ink, line, grid, warn] = ['--dim', '--accent', '--line', '--warn'].map(colour)
  const axis = { stroke: ink ?? '', grid: { stroke: grid ?? '', width: 1 }, ticks: { show: false } }
  return new Library(
    {
      width: element.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { y: false },
      scales: { y: { range: (_, __, max) => [0, Math.max(max, windowTokens) * 1.05] } },
      axes: [
        axis,
        {
          ...axis,
          size: 64,
          values: (_, ticks) => ticks.map((tick) => `${Math.round(tick / 100) / 10}k`),
        },
      ],
      series: [
        {},
        {
          label: 'tokens',
          stroke: line ?? '',
          width: 2,
          fill: `${line}22`,
          points: { show: points.length < 100 },
        },
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
