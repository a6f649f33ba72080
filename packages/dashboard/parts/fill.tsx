import { percent, tokens } from './words.ts'

/** How full a context is, as a bar. */
export function Fill(props: {
  readonly used: number
  readonly window: number
  /** A handoff is being prepared. */
  readonly isMoving?: boolean
}) {
  const { used, window, isMoving = false } = props
  const share = percent(used, window)
  const level = share >= 90 ? 'full' : share >= 70 ? 'high' : 'low'
  return (
    // biome-ignore lint/a11y/useSemanticElements: browsers draw <meter> each in its own colours
    <span
      class={`fill ${level}${isMoving ? ' moving' : ''}`}
      role="meter"
      aria-label="Context"
      aria-valuemin={0}
      aria-valuemax={window}
      aria-valuenow={Math.min(used, window)}
      aria-valuetext={`${share}% of ${tokens(window)} tokens`}
      title={`${tokens(used)} of ${tokens(window)} tokens`}
    >
      <span style={{ width: `${share}%` }} />
    </span>
  )
}
