import { useEffect, useRef, useState } from 'preact/hooks'
import type Plot from 'uplot'
import 'uplot/dist/uPlot.min.css'

/** Tokens of a context over time: messages raise them, compactions lower them. */
export interface Point {
  /** Milliseconds. */
  readonly at: number
  readonly tokens: number
}

/** An attempt at a compaction, at its end, and how long a turn waited for it. */
export interface Mark {
  readonly at: number
  readonly tokens: number
  readonly look: 'model' | 'digest' | 'failed'
  readonly waitMs: number
}

interface Drawing {
  readonly points: readonly Point[]
  readonly marks: readonly Mark[]
  readonly windowTokens: number
}

const HEIGHT = 240

export function SawTooth(drawing: Drawing) {
  const { points, marks, windowTokens } = drawing
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
    let plot = draw(element, { points, marks, windowTokens })
    const again = () => {
      plot.destroy()
      plot = draw(element, { points, marks, windowTokens })
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
  }, [points, marks, windowTokens, draw])
  const newest = points.at(-1)?.tokens ?? 0
  const label = `Tokens of the context over time, ${points.length} points, ${marks.length} compactions, now ${newest}`
  if (isBroken)
    return <p class="dim">This browser cannot draw the chart; the list below has the figures.</p>
  return (
    <>
      <div class="chart" ref={box} role="img" aria-label={label} />
      <p class="chart-legend dim" aria-hidden="true">
        <i class="mark model" /> written by a model <i class="mark digest" /> written without a
        model <i class="mark failed" /> failed <i class="mark wait" /> a turn waited{' '}
        <i class="mark window" /> the window
      </p>
    </>
  )
}

type Draw = (element: HTMLElement, drawing: Drawing) => Plot

/**
 * Loads the plotting library on demand. It fails to load in a browser with an invalid language
 * (`en-US@posix`, as in containers); the rest of the page must still work.
 */
async function load(): Promise<Draw> {
  const { default: Library } = await import('uplot')
  return (element, drawing) => drawWith(Library, element, drawing)
}

const fractions = new Intl.DateTimeFormat('en-GB', {
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 1,
})
const seconds = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })
const minutes = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' })
const days = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const DAY = 86_400

function drawWith(Library: typeof Plot, element: HTMLElement, drawing: Drawing): Plot {
  const { points, marks, windowTokens } = drawing
  const colour = (name: string) => getComputedStyle(element).getPropertyValue(name).trim()
  const [ink = '', line = '', grid = ''] = ['--dim', '--accent', '--line'].map(colour)
  const [warn = '', bad = '', ground = ''] = ['--warn', '--bad', '--surface'].map(colour)
  const looks = { model: line, digest: warn, failed: bad } as const
  const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { show: false } }
  const drawMarks = (plot: Plot) => {
    const { ctx, bbox } = plot
    const x = (at: number) => plot.valToPos(at / 1_000, 'x', true)
    const size = 5 * devicePixelRatio
    ctx.save()
    ctx.setLineDash([])
    ctx.globalAlpha = 0.25
    ctx.fillStyle = warn
    for (const { at, waitMs } of marks) {
      if (waitMs > 0) ctx.fillRect(x(at - waitMs), bbox.top, x(at) - x(at - waitMs), bbox.height)
    }
    ctx.globalAlpha = 1
    for (const { at, tokens, look } of marks) {
      ctx.beginPath()
      ctx.arc(x(at), plot.valToPos(tokens, 'y', true), size, 0, 2 * Math.PI)
      ctx.fillStyle = look === 'failed' ? ground : looks[look]
      ctx.fill()
      ctx.lineWidth = 2 * devicePixelRatio
      ctx.strokeStyle = look === 'failed' ? bad : ground
      ctx.stroke()
    }
    ctx.restore()
  }
  return new Library(
    {
      width: element.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { y: false, points: { show: false } },
      scales: { y: { range: (_, __, max) => [0, Math.max(max, windowTokens) * 1.05] } },
      hooks: { draw: [drawMarks] },
      axes: [
        {
          ...axis,
          space: 90,
          values: (_, ticks, __, ___, step) => {
            const form = step < 1 ? fractions : step < 60 ? seconds : step < DAY ? minutes : days
            return ticks.map((tick) => form.format(tick * 1_000))
          },
        },
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
          stroke: line,
          width: 2,
          fill: `color-mix(in srgb, ${line} 14%, transparent)`,
          points: { show: false },
        },
        { label: 'window', stroke: bad, width: 1, dash: [6, 6], points: { show: false } },
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
