import { type EntryNumber, entryNumber, type SessionId } from '#core/base/ids'
import { buildContext, type Context } from '#core/session/context/build'
import { readKind, readRange } from '#core/session/context/source'
import type { SessionSettings } from '#core/session/settings'
import { adoptedOperation } from '#core/session/view/adopted-compaction'
import { spendOnCompaction } from '#core/session/view/compaction-report'
import { entryView } from '#core/session/view/transcript'
import { LIST_MAX } from '#core/store/bounds'
import type { Reads } from '#core/store/contract'
import type { OperationRow, SessionRow } from '#core/store/tables/rows'
import { compactionView, undoneIn } from '../compaction-view.ts'
import type { CompactionView, ContextView, SessionSnapshot } from '../runtime.ts'
import { viewContext } from './views.ts'

export { readCompactionReport } from '#core/session/view/compaction-report'

/** Attempts at compactions, the newest first. */
export async function readCompactions(
  store: Reads,
  session: SessionRow,
  limit: number,
): Promise<readonly CompactionView[]> {
  const sessionId = session.id
  const rows = await readOperations(store, session, limit)
  const since = rows.at(-1)?.startedAt ?? 0
  const task = 'compaction'
  const attempts = await store.readAttempts({ sessionId, task, since, limit: LIST_MAX })
  const knownSince = attempts.length < LIST_MAX ? since : (attempts.at(-1)?.at ?? since)
  const [reverts, erasures] = await Promise.all(
    (['revert', 'erasure'] as const).map((kind) =>
      readKind(store, sessionId, { kind, to: session.tail }),
    ),
  )
  const undone = undoneIn(rows, [...(reverts ?? []), ...(erasures ?? [])])
  return await Promise.all(
    rows.map(async (row) => {
      const spend = row.startedAt < knownSince ? null : spendOnCompaction(row, attempts)
      return compactionView(row, session, {
        spend,
        heldSince: await readHeldSince(store, row, session),
        isUndone: undone.has(row),
      })
    }),
  )
}

/**
 * A session whose entries were not all written here, such as that of a client or a fork, also has
 * handoffs without an operation of its own: their entries are the record.
 */
async function readOperations(
  store: Reads,
  session: SessionRow,
  limit: number,
): Promise<readonly OperationRow[]> {
  const own = await store.listOperations({ sessionId: session.id, limit })
  if (session.birth === 'created' || session.birth === 'afresh') return own
  const known = new Set(own.map(({ id }) => id))
  const made = await readKind(store, session.id, { kind: 'compaction', to: session.tail })
  const rows = [...own]
  for (const entry of made.toReversed().slice(0, limit)) {
    if (entry.kind !== 'compaction' || known.has(entry.operation)) continue
    const origin = await store.findOperation(entry.operation)
    rows.push(origin ?? adoptedOperation(session.id, entry))
  }
  return rows.sort((one, other) => other.startedAt - one.startedAt).slice(0, limit)
}

/** When the turn stopped to wait for a compaction. */
async function readHeldSince(
  store: Reads,
  row: OperationRow,
  session: SessionRow,
): Promise<number | null> {
  const { entry, tokensBefore, isAdopted } = row.result
  const { hardTokens, outputTokens } = session.limits
  if (isAdopted === true || typeof entry !== 'number' || typeof tokensBefore !== 'number')
    return null
  if (tokensBefore + outputTokens <= hardTokens) return null
  const [before] = await readRange(store, session.id, entry - 2, entry - 1)
  return before?.kind === 'input' || before?.kind === 'result' ? before.at : null
}

/** A view of the transcript that copies nothing. */
export async function openSnapshot(
  store: Reads,
  { id }: SessionRow,
  compaction: EntryNumber,
): Promise<SessionSnapshot | undefined> {
  if (compaction < 1) return undefined
  const [made] = await readRange(store, id, compaction - 1, compaction)
  if (made?.kind !== 'compaction') return undefined
  const entries = entryNumber(compaction - 1)
  const { previous } = made.meta
  const [before] = previous === 0 ? [] : await readRange(store, id, previous - 1, previous)
  const covers = before?.kind === 'compaction' ? before.meta.covers : 0
  return {
    sessionId: id,
    compaction,
    entries,
    async transcript({ from, to }) {
      const last = Math.min(to, entries)
      const read = from > last ? [] : await readRange(store, id, Math.max(1, from) - 1, last)
      return read.map((entry) => entryView(entry, covers))
    },
    async context() {
      const source = await store.readContext({ sessionId: id, upto: entries })
      if (source === null) return undefined
      const context = buildContext(source, source.limits, entries)
      return viewContext(id, context, { limits: source.limits, settings: null })
    },
  }
}

/** The context that the model sees now, or saw at a step. */
export async function readContextView(
  store: Reads,
  sessionId: SessionId,
  query: {
    readonly at: EntryNumber | undefined
    readonly settingsFor: (agent: string) => SessionSettings
  },
): Promise<ContextView | undefined> {
  const { at, settingsFor } = query
  const upto = at === undefined ? undefined : await readUpto(store, sessionId, at)
  const source = await store.readContext(upto === undefined ? { sessionId } : { sessionId, upto })
  if (source === null) return undefined
  const { session, limits } = source
  const context = buildContext(source, limits, upto ?? session.tail)
  if (at !== undefined) return viewContext(session.id, context, { limits, settings: null })
  const counted = await readCounted(store, session.id, context)
  const settings = settingsFor(session.agent)
  return viewContext(session.id, context, { limits, settings, ...counted })
}

/** The proxy prepares handoffs by what the provider counts, not by our estimate. */
async function readCounted(
  store: Reads,
  sessionId: SessionId,
  { settings }: Context,
): Promise<{ readonly countedTokens?: number }> {
  if (!('client' in (settings[0]?.body ?? {}))) return {}
  const [last] = await store.readAttempts({ sessionId, task: 'client', since: 0, limit: 1 })
  return last === undefined ? {} : { countedTokens: last.inputTokens }
}

/**
 * The last entry in the context of a step, from the step's record; for any other entry, that entry.
 */
async function readUpto(store: Reads, id: SessionId, at: EntryNumber): Promise<EntryNumber> {
  const [entry] = await readRange(store, id, at - 1, at)
  return entry?.kind === 'assistant' ? entryNumber(entry.meta.upto) : at
}
