import type { ComponentChildren } from 'preact'

/**
 * The frame of every chart: a caption, a drawing that is stretched to the width of the page, and times
 * below it. Positions are plain numbers, never formatted ones: a decimal comma or Arabic digits would
 * break the drawing.
 */
export const WIDTH = 480

export function Chart(props: {
  readonly label: string
  /** The figures in words, for those who do not see the drawing. */
  readonly summary: string
  readonly height: number
  /** From left to right. */
  readonly times: readonly string[]
  readonly children: ComponentChildren
}) {
  const { label, summary, height, times, children } = props
  return (
    <figure class="chart">
      <figcaption>
        {label} <span class="dim">{summary}</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}, ${summary}`}
      >
        {children}
      </svg>
      <p class="chart-times dim" aria-hidden="true">
        {times.map((time) => (
          <span>{time}</span>
        ))}
      </p>
    </figure>
  )
}

/** A line without length: its round ends are a circle, however the drawing is stretched. */
export function Dot(props: { readonly class: string; readonly x: number; readonly y: number }) {
  return <path class={`spot ${props.class}`} d={`M${props.x} ${props.y}h0`} />
}

export function Legend({ marks }: { readonly marks: Readonly<Record<string, string>> }) {
  return (
    <p class="chart-legend dim" aria-hidden="true">
      {Object.entries(marks).map(([look, words]) => (
        <span>
          <i class={`mark ${look}`} /> {words}
        </span>
      ))}
    </p>
  )
}
