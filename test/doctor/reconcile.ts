import { type FoldRow, foldConversation } from '../../src/doctor/hermes/fold.ts'
import type { HermesModel, ModelRow, ModelSession } from './hermes-model.ts'

/** Folds every conversation of a model: no row unaccounted for, and the copies are the copies. */
export function reconcile(model: HermesModel): string[] {
  return [...model.sessions.values()]
    .filter((session) => !continues(session, model))
    .flatMap((root) => reconcileOne(chainOf(root, model), model))
}

function reconcileOne(chain: readonly ModelSession[], model: HermesModel): string[] {
  const rowsOf = (id: string) => model.rows.filter((row) => row.sessionId === id)
  const sessions = chain.map(({ id, parentId, endedAt, endReason }) => ({
    ...{ id, parentId },
    closedAt: endReason === 'compression' ? endedAt : null,
    rows: rowsOf(id).map(foldRow),
  }))
  const folded = foldConversation(sessions.map((one) => ({ ...one, rowCount: one.rows.length })))
  const { rowsIn } = folded
  const [entries, copies] = [[...folded.entries()], [...folded.copies()]]
  const told = [
    ...entries.map(({ rowId }) => rowId),
    ...copies.map(({ rowId }) => rowId),
    ...folded.rewound(),
  ]
  const given = sessions.flatMap(({ rows }) => rows.map(({ id }) => id))
  const root = chain[0]?.id
  const problems: string[] = []
  if (rowsIn !== given.length || sorted(told) !== sorted(given)) {
    problems.push(`${root}: rows unaccounted for: ${sorted(given)} became ${sorted(told)}`)
  }
  const rows = sessions.flatMap(({ id }) => rowsOf(id))
  const truth = rows.flatMap(({ id, copyOf }) => (copyOf === null ? [] : [`${id}=${copyOf}`]))
  const found = copies.map(({ rowId, ofRowId }) => `${rowId}=${ofRowId}`)
  // A rewritten session has lost the originals of what was copied into it.
  const isRewritten = rows.some(
    (row, index) =>
      (row.at - (rows[index - 1]?.at ?? 0)) * 1e6 < 2 && row.at > (rows[index - 1]?.at ?? 0),
  )
  if (!isRewritten && truth.join() !== found.join()) {
    problems.push(`${root}: copies ${found.join()} instead of ${truth.join()}`)
  }
  const times = entries.flatMap((entry) => {
    const row = model.rows.find(({ id }) => id === entry.rowId)
    return entry.kind === 'message' && row !== undefined ? [row.at] : []
  })
  if (chain.length < 2 && times.some((at, index) => at < (times[index - 1] ?? 0))) {
    problems.push(`${root}: messages out of order`)
  }
  return problems
}

function foldRow(row: ModelRow): FoldRow {
  const { id, role, at, content, toolCalls, toolCallId, active, compacted } = row
  return {
    ...{ id, role, at },
    state: active === 1 ? 'live' : compacted === 1 ? 'archived' : 'rewound',
    isHandoff: /^\[CONTEXT (?:COMPACTION|SUMMARY)/.test(content ?? ''),
    said: JSON.stringify([role, content, toolCalls, toolCallId]),
  }
}

function continues(session: ModelSession, model: HermesModel): boolean {
  const parent = model.sessions.get(session.parentId ?? '')
  const isOther = session.modelConfig !== null || session.source === 'tool'
  return parent?.endReason === 'compression' && !isOther
}

function chainOf(root: ModelSession, model: HermesModel): readonly ModelSession[] {
  const chain = [root]
  for (const one of chain) {
    const children = [...model.sessions.values()].filter(
      (child) => child.parentId === one.id && continues(child, model),
    )
    chain.push(...children)
  }
  return chain
}

function sorted(ids: readonly number[]): string {
  return [...ids].sort((one, other) => one - other).join()
}
