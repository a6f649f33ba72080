import { type EntryNumber, entryNumber, type SessionId } from '../../base/ids.ts'
import type { MessageEntries } from '../../compaction/layout.ts'
import type { Message } from '../../message/message.ts'
import { LIST_MAX } from '../../store/bounds.ts'
import type { Reads } from '../../store/contract.ts'
import { compactionMetaOf, type FoldedKind, pathTo } from '../../store/fold.ts'
import type { ContextEntries } from '../../store/queries.ts'
import type { CompactionMeta, Entry, OperationRow, SessionRow } from '../../store/tables/rows.ts'
import { isCarried } from './budget.ts'
import { buildContext, type Context, pieceEntries, visiblePieces } from './build.ts'

/** Further reads from the transcript: sources of handoffs, sizes of reverts. */

/** The source of a handoff. */
export interface Source {
  readonly messages: readonly Message[]
  /** The range to cover ends before this message. */
  readonly cut: number
  /** Which messages of the range are unanswered: they stay in the context beside the handoff. */
  readonly open: readonly number[]
  readonly entries: MessageEntries
}

export async function readRange(
  store: Pick<Reads, 'readEntries'>,
  sessionId: SessionId,
  after: number,
  to: number,
): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  for (let from = after + 1; from <= to; from += LIST_MAX) {
    const last = Math.min(to, from + LIST_MAX - 1)
    const page = { sessionId, from: entryNumber(from), to: entryNumber(last) }
    entries.push(...(await store.readEntries(page)))
  }
  return entries
}

/** All entries of a kind, up to and including `to`, oldest first. */
export async function readKind(
  store: Pick<Reads, 'readEntries'>,
  sessionId: SessionId,
  { kind, to }: { readonly kind: FoldedKind; readonly to: EntryNumber },
): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  let from = entryNumber(1)
  while (true) {
    const page = await store.readEntries({ sessionId, from, to, kind })
    entries.push(...page)
    const last = page.at(-1)
    if (last === undefined || page.length < LIST_MAX) return entries
    from = entryNumber(last.number + 1)
  }
}

async function readOne(
  store: Reads,
  sessionId: SessionId,
  number: EntryNumber,
): Promise<Entry | undefined> {
  const [entry] = await store.readEntries({ sessionId, from: number, to: number })
  return entry
}

/** A handoff in the transcript, with its metadata. */
interface StoredHandoff {
  readonly entry: Entry
  readonly meta: CompactionMeta
}

async function readHandoff(
  store: Reads,
  sessionId: SessionId,
  number: number,
): Promise<StoredHandoff | null> {
  if (number === 0) return null
  const entry = await readOne(store, sessionId, entryNumber(number))
  const meta = entry && compactionMetaOf(entry)
  if (entry === undefined || meta === undefined) return null
  // An erased handoff has no content: use the one before it.
  return entry.body === null ? await readHandoff(store, sessionId, meta.previous) : { entry, meta }
}

/**
 * The source of a handoff: the newest earlier handoff that a model wrote, and everything after it.
 * A digest is never read, so that no summary is made from a selection (decision 16), and results
 * that a clearing shortened are read whole.
 */
export async function readSource(
  store: Reads,
  session: SessionRow,
  operation: OperationRow,
  context: Context,
  carries: readonly EntryNumber[],
): Promise<Source> {
  const { id } = session
  const { covers } = operation
  if (isWholeSource(session, context, operation)) {
    return sourceOf(context, context, covers, carries)
  }
  let earlier = await readHandoff(store, id, operation.previous)
  while (earlier !== null && isDerived(earlier.meta))
    earlier = await readHandoff(store, id, earlier.meta.previous)
  const head = await readHead(store, session, earlier, covers, { results: 'whole' })
  return sourceOf(head, context, covers, carries)
}

/** A digest is a selection, and a clearing repeats the handoff below it, if there is one. */
function isDerived({ by }: CompactionMeta): boolean {
  return by === 'digest' || by === 'clearing'
}

/**
 * The context as of `to` with this handoff: its text, the input it carries, and everything after
 * it.
 */
async function readHead(
  store: Reads,
  session: SessionRow,
  below: StoredHandoff | null,
  to: EntryNumber,
  {
    isWanted = () => true,
    results,
  }: { isWanted?: (entry: Entry) => boolean; results: 'as shown' | 'whole' },
): Promise<Context> {
  const covers = below?.meta.covers ?? 0
  const carries = new Set(below?.meta.carries ?? [])
  const from = Math.min(covers, ...[...carries].map((number) => number - 1))
  const isOnPath = pathTo(await readKind(store, session.id, { kind: 'revert', to }), to)
  const entries = (await readRange(store, session.id, from, to)).filter(
    (entry) =>
      isMessage(entry) &&
      isOnPath(entry.number) &&
      (entry.number > covers || carries.has(entry.number)) &&
      isWanted(entry),
  )
  const source: ContextEntries = {
    session,
    effective: below?.entry.number ?? entryNumber(0),
    covers: entryNumber(covers),
    limits: session.limits,
    entries: [...(below === null ? [] : [below.entry]), ...entries],
  }
  return buildContext(source, session.limits, to, results)
}

/**
 * Usually the context already starts with the handoff that the new one follows, written by a model.
 * Then nothing is read again (for a thousand entries, reading took a third of a compaction's own
 * time).
 */
function isWholeSource(
  session: SessionRow,
  { effective, clears }: Context,
  { previous }: OperationRow,
): boolean {
  const isNewest = effective === previous && session.effective === effective
  return isNewest && session.by !== 'digest' && clears === undefined
}

function sourceOf(
  head: Context,
  context: Context,
  covers: EntryNumber,
  carries: readonly EntryNumber[],
): Source {
  const covered = head.pieces.filter((piece) => piece.number <= covers && piece.isNote !== true)
  const tail = context.pieces.filter((piece) => piece.number > covers)
  const before = visiblePieces({ ...head, system: context.system, pieces: covered })
  const shown = [...before, ...tail]
  const open = covered.filter((piece) => isCarried(piece, carries))
  return {
    messages: shown.map(({ message }) => message),
    cut: before.length,
    open: open.map((piece) => before.indexOf(piece)),
    entries: shown.map(pieceEntries),
  }
}

/** The source of a handoff that must not mention these entries. */
export async function readSourceWithout(
  store: Reads,
  session: SessionRow,
  erased: readonly EntryNumber[],
  context: Context,
): Promise<Source> {
  const { id, covers } = session
  const first = Math.min(...erased)
  const gone = new Set<number>(erased)
  const isTainted = ({ entry, meta }: StoredHandoff) =>
    isDerived(meta) || meta.covers >= first || gone.has(entry.number)
  let earlier = await readHandoff(store, id, session.effective)
  while (earlier !== null && isTainted(earlier)) {
    earlier = await readHandoff(store, id, earlier.meta.previous)
  }
  const head = await readHead(store, session, earlier, covers, {
    isWanted: ({ number }) => !gone.has(number),
    results: 'whole',
  })
  const tail = {
    ...context,
    pieces: context.pieces.filter((piece) => !gone.has(piece.number)),
  }
  const carries = context.pieces.map(({ number }) => number).filter((number) => number <= covers)
  return sourceOf(head, tail, covers, carries)
}

function isMessage({ kind }: Entry): boolean {
  return kind === 'input' || kind === 'assistant' || kind === 'result'
}

/** How large the context would be without its newest compaction, its system part not counted. */
export async function measureRevert(
  store: Reads,
  session: SessionRow,
  context: Context,
  target: EntryNumber,
): Promise<number> {
  const { id } = session
  const undone = await readHandoff(store, id, target)
  const below = await readHandoff(store, id, undone?.meta.previous ?? 0)
  return (await readHead(store, session, below, context.upto, { results: 'as shown' })).tokens
}
