import type { ContextPart, ContextView } from '../../server/src/runtime/runtime.ts'

/** The parts added to and removed from a context. Kind, origin and text identify a part. */
export interface Difference {
  readonly added: readonly ContextPart[]
  readonly removed: readonly ContextPart[]
  readonly same: number
}

export function compareContexts(before: ContextView, after: ContextView): Difference {
  const known = countBy(before.parts)
  const added = after.parts.filter((part) => !takeOne(known, part))
  const others = countBy(after.parts)
  const removed = before.parts.filter((part) => !takeOne(others, part))
  return { added, removed, same: after.parts.length - added.length }
}

// An incoming message becomes part of the tail one step later; that is not a change.
const keyOf = ({ kind, text, origin }: ContextPart) =>
  JSON.stringify([kind === 'incoming' ? 'tail' : kind, origin.from, text])

function countBy(parts: readonly ContextPart[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const part of parts) counts.set(keyOf(part), (counts.get(keyOf(part)) ?? 0) + 1)
  return counts
}

function takeOne(counts: Map<string, number>, part: ContextPart): boolean {
  const key = keyOf(part)
  const left = counts.get(key) ?? 0
  if (left > 0) counts.set(key, left - 1)
  return left > 0
}
