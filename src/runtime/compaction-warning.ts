import type { RuntimeEvent } from './runtime.ts'

/** What the people in a session are to be told with a committed compaction; mostly nothing. */
export function warningIn(event: Extract<RuntimeEvent, { type: 'stored' }>): string | null {
  const { warning } = event.facts
  return event.kind === 'compaction committed' && typeof warning === 'string' ? warning : null
}
