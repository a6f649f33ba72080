import { type EntryNumber, entryNumber, type SessionId } from '../base/ids.ts'
import type { Message } from '../message/message.ts'
import { LIST_MAX } from '../store/bounds.ts'
import type { Reads } from '../store/contract.ts'
import { handoffOf } from '../store/fold.ts'
import type { ContextEntries } from '../store/queries.ts'
import type { CompactionMeta, Entry, OperationRow, SessionRow } from '../store/rows.ts'
import { buildContext, type Context, type InputBody, messagesOf, replyToOf } from './context.ts'

/** What is read from the transcript beside the picture: sources of handoffs, sizes of reverts. */

export async function readRange(
  store: Reads,
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

async function readOne(
  store: Reads,
  sessionId: SessionId,
  number: EntryNumber,
): Promise<Entry | undefined> {
  const [entry] = await store.readEntries({ sessionId, from: number, to: number })
  return entry
}

/** A handoff in the transcript, and what it says about itself. */
interface Standing {
  readonly entry: Entry
  readonly meta: CompactionMeta
}

async function readHandoff(
  store: Reads,
  sessionId: SessionId,
  number: number,
): Promise<Standing | null> {
  if (number === 0) return null
  const entry = await readOne(store, sessionId, entryNumber(number))
  const meta = entry && handoffOf(entry)
  if (entry === undefined || meta === undefined) return null
  // One that was erased tells nothing: what it stood on is the next.
  return entry.body === null ? await readHandoff(store, sessionId, meta.previous) : { entry, meta }
}

/**
 * What a handoff is written from: the newest handoff below that a model wrote, and everything
 * behind it. A digest is never read, so that nothing is summarised from a selection (decision 16).
 */
export async function readSource(
  store: Reads,
  session: SessionRow,
  operation: OperationRow,
  context: Context,
): Promise<{ messages: readonly Message[]; cut: number; earlier: EntryNumber }> {
  const { id } = session
  if (isWholeSource(session, context, operation))
    return sourceOf(context, context, operation.covers)
  let earlier = await readHandoff(store, id, operation.previous)
  while (earlier?.meta.by === 'digest')
    earlier = await readHandoff(store, id, earlier.meta.previous)
  const from = earlier?.meta.covers ?? 0
  const entries = await readRange(store, id, from, operation.covers)
  const number = earlier?.entry.number ?? entryNumber(0)
  const source: ContextEntries = {
    session,
    effective: number,
    covers: entryNumber(from),
    limits: session.limits,
    entries: [...(earlier === null ? [] : [earlier.entry]), ...entries.filter(isMessage)],
  }
  const head = buildContext(source, session.limits, operation.covers)
  return sourceOf(head, context, operation.covers)
}

/**
 * Mostly the context itself begins with the handoff that the new one follows, and a model wrote it:
 * then nothing need be read again (a thousand entries took a third of a compaction's own time).
 */
function isWholeSource(
  session: SessionRow,
  { effective }: Context,
  { previous }: OperationRow,
): boolean {
  return effective === previous && session.effective === effective && session.by !== 'digest'
}

function sourceOf(
  head: Context,
  context: Context,
  covers: EntryNumber,
): { messages: readonly Message[]; cut: number; earlier: EntryNumber } {
  const covered = head.pieces.filter((piece) => piece.number <= covers)
  const tail = context.pieces.filter((piece) => piece.number > covers)
  const before = messagesOf({ ...head, system: context.system, pieces: covered })
  const messages = [...before, ...tail.map((piece) => piece.message)]
  return { messages, cut: before.length, earlier: head.effective }
}

/** What a handoff is written from that must not tell of these entries. */
export async function readSourceWithout(
  store: Reads,
  session: SessionRow,
  erased: readonly EntryNumber[],
  context: Context,
): Promise<{ messages: readonly Message[]; cut: number }> {
  const { id, covers } = session
  const first = Math.min(...erased)
  const gone = new Set<number>(erased)
  const isTainted = ({ entry, meta }: Standing) =>
    meta.by === 'digest' || meta.covers >= first || gone.has(entry.number)
  let earlier = await readHandoff(store, id, session.effective)
  while (earlier !== null && isTainted(earlier)) {
    earlier = await readHandoff(store, id, earlier.meta.previous)
  }
  const from = earlier?.meta.covers ?? 0
  const entries = (await readRange(store, id, from, covers)).filter(
    (entry) => isMessage(entry) && !gone.has(entry.number),
  )
  const source: ContextEntries = {
    session,
    effective: earlier?.entry.number ?? entryNumber(0),
    covers: entryNumber(from),
    limits: session.limits,
    entries: [...(earlier === null ? [] : [earlier.entry]), ...entries],
  }
  const head = buildContext(source, session.limits, covers)
  const before = messagesOf({ ...head, system: context.system })
  const tail = context.pieces.filter((piece) => !gone.has(piece.number))
  return { messages: [...before, ...tail.map((piece) => piece.message)], cut: before.length }
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
  const covers = below?.meta.covers ?? 0
  const entries = await readRange(store, id, covers, context.upto)
  const without = buildContext(
    {
      session,
      effective: below?.entry.number ?? entryNumber(0),
      covers: entryNumber(covers),
      limits: session.limits,
      entries: [...(below === null ? [] : [below.entry]), ...entries.filter(isMessage)],
    },
    session.limits,
    context.upto,
  )
  return without.tokens
}

const PAGE = 200

/** Where the newest input that says so wants its answer; asked once, when a session is taken over. */
export async function findReplyTo(
  store: Reads,
  session: SessionRow,
): Promise<InputBody['replyTo'] | null> {
  for (let to = session.tail as number; to > 0; to -= PAGE) {
    const page = await readRange(store, session.id, Math.max(0, to - PAGE), to)
    for (const entry of page.toReversed()) {
      const place = replyToOf(entry)
      if (place !== undefined) return place
    }
  }
  return null
}
