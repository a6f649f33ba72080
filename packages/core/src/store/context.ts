import { FOLDED_KINDS, type Fold, fold, pathTo } from './fold.ts'
import type { ContextEntries } from './queries.ts'
import type { Entry, EntryHead, Limits, SessionRow } from './tables/rows.ts'

/** How an engine reads what a context is folded from. */
export interface ContextSource {
  /** Heads of the folded kinds up to a number, oldest first. */
  folded(upto: number): readonly EntryHead[]
  numbers(numbers: readonly number[]): readonly Entry[]
  /** Entries after `after`, up to and including `upto`. */
  range(after: number, upto: number): readonly Entry[]
}

export function contextEntries(
  session: SessionRow,
  upto: number,
  source: ContextSource,
): ContextEntries {
  // Of what follows `upto`, only the next settings matter: they name the limits they replaced.
  const heads = source.folded(Math.max(upto, session.settings))
  const state: Fold = fold(heads.filter(({ number }) => number <= upto))
  const { effective, covers } = state
  const kept = [
    effective,
    state.settings,
    state.tasks,
    ...Object.values(state.pins).map((record) => record.entry),
    ...state.carries,
  ].filter((number) => number !== 0 && number <= covers)
  const early = source.numbers([...new Set(kept)].sort((a, b) => a - b))
  const limits = limitsAt(heads, upto) ?? session.limits
  return { session, effective, covers, limits, entries: [...early, ...source.range(covers, upto)] }
}

/**
 * Removes what a rewind left behind. Separate from `contextEntries`, whose whole range is checked
 * first.
 */
export function onPath(
  context: ContextEntries,
  heads: readonly EntryHead[],
  upto: number,
): ContextEntries {
  if (!heads.some((head) => head.kind === 'revert' && head.meta.to !== undefined)) return context
  const isOnPath = pathTo(heads, upto)
  const entries = context.entries.filter(({ kind, number }) => isOnPath(number) || isFolded(kind))
  return { ...context, entries }
}

/** A rewind takes back messages. Settings, pins and tasks stay. */
function isFolded(kind: Entry['kind']): boolean {
  return (FOLDED_KINDS as readonly string[]).includes(kind)
}

/** Undefined if no settings entry exists: the limits have never changed. */
export function limitsAt(heads: readonly EntryHead[], upto: number): Limits | undefined {
  const settings = heads.filter((head) => head.kind === 'settings')
  const present = settings.findLast(({ number }) => number <= upto)
  return present === undefined ? settings[0]?.meta.replaces : present.meta.limits
}
