import type { ContextPart, ContextView } from '../../server/src/runtime/runtime.ts'
import { Legend } from './chart.tsx'
import { percent, tokens } from './words.ts'

/** In the order in which the model reads them. */
export const KINDS: readonly ContextPart['kind'][] = [
  ...(['system', 'tool', 'pin', 'preserved', 'tasks', 'files', 'ledger', 'summary'] as const),
  ...(['tail', 'incoming'] as const),
]
export const KIND_WORDS: Readonly<Record<ContextPart['kind'], string>> = {
  system: 'System',
  tool: 'Tools',
  pin: 'Pins',
  preserved: 'Kept word for word',
  tasks: 'Tasks',
  files: 'Files',
  ledger: 'Exact facts',
  summary: 'Summary',
  tail: 'Conversation',
  incoming: 'New message',
}

export function sumsOf(parts: readonly ContextPart[]): ReadonlyMap<ContextPart['kind'], number> {
  const sums = new Map<ContextPart['kind'], number>()
  for (const { kind, tokens } of parts) sums.set(kind, (sums.get(kind) ?? 0) + tokens)
  return sums
}

const HARD = { hard: 'the next step compacts first' }
const LIMITS = { soft: 'a compaction starts in the background', ...HARD }

/** The whole window as one bar, by kind of content, with the free part. */
export function ContextBar({ view }: { readonly view: ContextView }) {
  const { parts, tokens: used, hardTokens, softTokens, windowTokens } = view
  const whole = Math.max(windowTokens, used, 1)
  const sums = sumsOf(parts)
  const words = KINDS.filter((kind) => sums.has(kind)).map(
    (kind) => `${KIND_WORDS[kind]} ${tokens(sums.get(kind) ?? 0)}`,
  )
  return (
    <>
      <div
        class="context-bar"
        role="img"
        aria-label={`${tokens(used)} of ${tokens(windowTokens)} tokens: ${words.join(', ')}`}
      >
        {KINDS.map((kind) => (
          <span
            class={`kind-${kind}`}
            style={{ width: `${((sums.get(kind) ?? 0) / whole) * 100}%` }}
            title={`${KIND_WORDS[kind]}: ${tokens(sums.get(kind) ?? 0)} tokens`}
          />
        ))}
        {softTokens !== null && (
          <i
            class="soft"
            style={{ left: `${percent(softTokens, whole)}%` }}
            title="Soft limit: compaction starts in the background"
          />
        )}
        <i
          class="hard"
          style={{ left: `${percent(hardTokens, whole)}%` }}
          title="Hard limit: the next step compacts first"
        />
      </div>
      <Legend marks={softTokens === null ? HARD : LIMITS} />
    </>
  )
}
