import { type EntryNumber, entryNumber } from '../base/ids.ts'
import type { CompactionBy, CompactionMeta, EntryHead, PinRecord } from './tables/rows.ts'

/**
 * The base of a context, folded from the heads of a transcript. The session row keeps the newest
 * result as a cache; `verify` folds again and compares (I9).
 */
export interface Fold {
  readonly effective: EntryNumber
  readonly covers: EntryNumber
  /** Covered input that stays in the context beside the handoff. */
  readonly carries: readonly EntryNumber[]
  readonly by: CompactionBy | null
  readonly base: EntryNumber
  readonly pins: Readonly<Record<string, PinRecord>>
  readonly settings: EntryNumber
  readonly tasks: EntryNumber
}

/** The kinds that the fold needs; entries of other kinds are read by range. */
export const FOLDED_KINDS = ['compaction', 'revert', 'erasure', 'pin', 'settings', 'task'] as const
export type FoldedKind = (typeof FOLDED_KINDS)[number]

/** The part of the fold that a session's row caches, without pins. */
export const FOLDED_NAMES = ['effective', 'covers', 'by', 'base', 'settings', 'tasks'] as const

/** The handoff that an entry contains: of a compaction, or of an erasure that replaced one. */
export function compactionMetaOf(head: EntryHead): CompactionMeta | undefined {
  if (head.kind === 'compaction') return head.meta
  return head.kind === 'erasure' ? (head.meta.replaces ?? undefined) : undefined
}

/**
 * Returns whether an entry lies on the path to `upto`: all do, except those that a rewind left
 * behind. `reverts` are the revert heads up to there, oldest first.
 */
export function pathTo(reverts: readonly EntryHead[], upto: number): (number: number) => boolean {
  const rewinds = reverts.filter((head) => head.kind === 'revert' && head.meta.to !== undefined)
  const left: { after: number; upto: number }[] = []
  let end = upto
  for (const head of rewinds.toReversed()) {
    if (head.kind !== 'revert' || head.number > end) continue
    end = head.meta.to ?? 0
    left.push({ after: end, upto: head.number })
  }
  return (number) => number <= upto && !left.some((gap) => number > gap.after && number < gap.upto)
}

export function fold(heads: readonly EntryHead[]): Fold {
  const handoffs = new Map<number, CompactionMeta>()
  const pins: Record<string, PinRecord> = Object.create(null)
  let effective = entryNumber(0)
  let base = entryNumber(0)
  let settings = entryNumber(0)
  let tasks = entryNumber(0)
  for (const head of heads) {
    const handoff = compactionMetaOf(head)
    if (handoff !== undefined) {
      handoffs.set(head.number, handoff)
      effective = head.number
    }
    switch (head.kind) {
      case 'compaction':
      case 'erasure':
        base = head.number
        break
      case 'revert':
        base = head.number
        effective = entryNumber(head.meta.previous)
        break
      case 'pin':
        if (head.meta.change === 'removed') delete pins[head.meta.name]
        else pins[head.meta.name] = { entry: head.number, tokens: head.tokens }
        break
      case 'settings':
        settings = head.number
        break
      case 'task':
        tasks = head.number
        break
      default:
        break
    }
  }
  const present = handoffs.get(effective)
  const covers = entryNumber(present?.covers ?? 0)
  const carries = (present?.carries ?? []).map(entryNumber)
  const by = present?.by ?? null
  return { effective, covers, carries, by, base, pins: { ...pins }, settings, tasks }
}
