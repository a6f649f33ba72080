import type { RuntimeEvent } from '../runtime.ts'

/** The warning for the people in a session after a committed compaction, if any. */
export function warningIn(event: Extract<RuntimeEvent, { type: 'stored' }>): string | null {
  const { warning } = event.facts
  return event.kind === 'compaction committed' && typeof warning === 'string' ? warning : null
}
