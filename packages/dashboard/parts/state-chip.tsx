import type { SessionSummary } from '../../server/src/runtime/runtime.ts'
import { activityOf } from './words.ts'

export function StateChip({ summary }: { readonly summary: SessionSummary }) {
  const activity = activityOf(summary)
  return (
    <span class={`chip ${activity}`}>
      {activity}
      {summary.isCompacting && activity !== 'preparing' && ' + preparing'}
    </span>
  )
}
