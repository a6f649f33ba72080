import { rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { entryNumber, type SessionId } from '../../../packages/core/src/base/ids.ts'
import { loadParts } from '../../../packages/core/src/session/blobs.ts'
import type { Store } from '../../../packages/core/src/store/contract.ts'
import type { Entry } from '../../../packages/core/src/store/tables/rows.ts'
import { exportHermes } from '../../../packages/server/src/migration/hermes/export/export.ts'
import { type PlainKinds, plainKinds, plainRows } from '../homes/plain-rows.ts'

/**
 * Import and back again, judged by plain SQL: which rows of the source stand in a session is said by
 * the number that its entries carry, and every one of those rows must stand in the exported file with
 * the same value in every column; nothing else may stand there.
 */
export async function judgeWayBack(store: Store, source: string, to: string): Promise<string[]> {
  const originals = new Map(plainRows(source).map((row) => [row.id, row]))
  const problems: string[] = []
  for (const { id, tail } of await store.listSessions({ limit: 1_000 })) {
    const entries = await entriesOf(store, id, tail)
    const rows = entries.flatMap(({ meta }) =>
      'row' in meta && meta.row !== undefined ? [meta.row] : [],
    )
    rmSync(to, { force: true })
    await exportHermes({
      ...{ reads: store, sessionId: id, to },
      unshelve: async (message) => (await loadParts(store, id, [message]))[0] ?? message,
    })
    const wanted = new Map(rows.map((row) => [originals.get(row)?.said ?? '', row]))
    const found = new Set(plainRows(to).map(({ said }) => said))
    for (const [said, row] of wanted) {
      if (found.has(said)) continue
      const near = [...found].find((one) => one.includes(said.split('\u0001').at(-1) ?? '-'))
      problems.push(`row ${row} of ${id} came back as ${near ?? 'nothing'} instead of ${said}`)
    }
    for (const said of found) if (!wanted.has(said)) problems.push(`${id} got a row: ${said}`)
    problems.push(...compareSessions(source, to, id))
    const [given, made] = [plainKinds(source, new Set(rows)), await madeKinds(store, entries)]
    if (JSON.stringify(given) !== JSON.stringify(made)) {
      problems.push(`${id} has ${JSON.stringify(made)} instead of ${JSON.stringify(given)}`)
    }
  }
  return problems
}

/** Of a conversation that was one session: the row of the session, but for what an export decides. */
function compareSessions(source: string, to: string, id: string): string[] {
  const [before, after] = [source, to].map((path) => {
    const database = new DatabaseSync(path, { readOnly: true })
    const children = database.prepare('select 1 from sessions where parent_session_id = ?').all(id)
    const row = database.prepare('select * from sessions where id = ?').get(id)
    database.close()
    return children.length === 0 ? row : undefined
  })
  if (before === undefined || after === undefined) return []
  return Object.keys(before)
    .filter((name) => !DECIDED.has(name) && before[name] !== null)
    .filter((name) => before[name] !== after[name])
    .map((name) => `${id} has ${name} ${after[name]} instead of ${before[name]}`)
}

const DECIDED = new Set([
  ...['ended_at', 'end_reason', 'parent_session_id', 'system_prompt', 'system_prompt_hash'],
  ...['message_count', 'tool_call_count'],
])

export async function entriesOf(
  store: Store,
  sessionId: SessionId,
  tail: number,
): Promise<readonly Entry[]> {
  if (tail === 0) return []
  return await store.readEntries({ sessionId, from: entryNumber(1), to: entryNumber(tail) })
}

/** By the bodies as JSON: the words of the store's own format, and no code that reads them. */
async function madeKinds(_store: Store, entries: readonly Entry[]): Promise<PlainKinds> {
  const kinds = { calls: 0, results: 0, pictures: 0 }
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const { type } = value as { type?: unknown }
    if (type === 'tool-call') kinds.calls += 1
    if (type === 'image') kinds.pictures += 1
    if (type === 'tool-result') kinds.results += 1
    for (const [key, item] of Object.entries(value)) if (key !== 'origin') walk(item)
  }
  for (const { kind, body, meta } of entries) {
    const value = JSON.parse(body ?? 'null') as {
      preserved?: { message?: { origin?: { at?: number } } }[]
    }
    const own = 'row' in meta ? meta.row : undefined
    if (kind === 'compaction') {
      for (const { message } of value.preserved ?? [])
        if (message?.origin?.at === own) walk(message)
    } else walk(value)
    if (kind === 'result') kinds.results += 1
  }
  return kinds
}
