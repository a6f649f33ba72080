import type { EntryNumber, SessionId } from '../../base/ids.ts'
import { LIST_MAX } from '../bounds.ts'
import type { StoreChange } from '../rules/ruling.ts'
import type { EmbeddedEntries } from '../search/lookup.ts'
import type { EmbeddedRow, ReadUnembedded, Unembedded } from '../vector-rows.ts'
import type { SqliteConnection } from './connection.ts'
import type { SessionNumbers } from './sessions.ts'
import { packed, SQLITE, unpacked } from './tables.ts'

/** The rows of embeddings: each session's progress (`embedded`) and the vectors (`entry_vector`). */
const PUT_EMBEDDED = SQLITE.embedded.insert.replace('insert', 'insert or replace')
const OF_SESSION = 'id between ? and ?'
const keysOf = (n: number) => [packed(n, 0), packed(n + 1, 0) - 1n] as const

export function embeddedIn(
  db: SqliteConnection,
  n: number,
  sessionId: SessionId,
): EmbeddedRow | undefined {
  const row = db.get('select * from embedded where session = ?', n)
  return row && SQLITE.embedded.decode(row, sessionId)
}

export function livingIn(
  db: SqliteConnection,
  n: number,
  after: number,
  upto: number,
): readonly EntryNumber[] {
  return db
    .all(
      'select id from entry where id > ? and id <= ? and body is not null',
      packed(n, after),
      packed(n, upto),
    )
    .map((row) => unpacked(row['id']) as EntryNumber)
}

export function vectorsIn(
  db: SqliteConnection,
  n: number,
  { model, dimension }: { readonly model: string; readonly dimension: number },
): EmbeddedEntries {
  const sql = 'select upto from embedded where session = ? and model = ? and dimension = ?'
  const row = db.get(sql, n, model, dimension)
  if (row === undefined) return { upto: 0, entries: [] }
  const rows = db.all(
    `select id, bytes from entry_vector where ${OF_SESSION} order by id`,
    ...keysOf(n),
  )
  return {
    upto: row['upto'] as number,
    entries: rows.map(({ id, bytes }) => ({
      number: unpacked(id),
      bytes: bytes as Uint8Array,
    })),
  }
}

const BEHIND = `from session left join embedded
    on embedded.session = session.n and embedded.model = ?
  where tail > coalesce(upto, iif(origin is null, 0, forked_at))`

export function unembeddedIn(db: SqliteConnection, { model, limit }: ReadUnembedded): Unembedded {
  const after = 'coalesce(upto, iif(origin is null, 0, forked_at))'
  const sum = db.get(`select coalesce(sum(tail - ${after}), 0) as entries ${BEHIND}`, model)
  const sql = `select id as sessionId, ${after} as after, tail as upto ${BEHIND}
    order by n desc limit ?`
  return {
    sessions: db.all(sql, model, Math.min(limit, LIST_MAX)) as unknown as Unembedded['sessions'],
    entries: (sum?.['entries'] ?? 0) as number,
  }
}

export function writeVectors(
  db: SqliteConnection,
  numbers: SessionNumbers,
  { vectorsRemoved, embedded = [], vectors = [] }: StoreChange,
): void {
  if (vectorsRemoved !== undefined) {
    const n = numbers.get(vectorsRemoved)
    db.run(`delete from entry_vector where ${OF_SESSION}`, ...keysOf(n))
    db.run('delete from embedded where session = ?', n)
  }
  for (const row of embedded) db.run(PUT_EMBEDDED, ...SQLITE.embedded.encode(row, numbers))
  for (const row of vectors) db.run(SQLITE.vector.insert, ...SQLITE.vector.encode(row, numbers))
}
