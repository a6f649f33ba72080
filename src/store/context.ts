import { type Fold, fold } from './fold.ts'
import type { ContextEntries } from './queries.ts'
import type { Entry, EntryHead, SessionRow } from './rows.ts'

/** How an engine finds what a context is folded from. */
export interface ContextSource {
  /** Heads of the folded kinds up to a number, oldest first. */
  folded(upto: number): readonly EntryHead[]
  numbers(numbers: readonly number[]): readonly Entry[]
  /** Entries behind `after` up to and with `upto`. */
  range(after: number, upto: number): readonly Entry[]
}

export function contextEntries(
  session: SessionRow,
  upto: number,
  source: ContextSource,
): ContextEntries {
  const state: Fold = fold(source.folded(upto))
  const { effective, covers } = state
  const kept = [
    effective,
    state.settings,
    state.tasks,
    ...Object.values(state.pins).map((record) => record.entry),
  ].filter((number) => number !== 0 && number <= covers)
  const early = source.numbers([...new Set(kept)].sort((a, b) => a - b))
  return { session, effective, covers, entries: [...early, ...source.range(covers, upto)] }
}
