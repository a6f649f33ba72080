import type { SessionId } from '../../../base/ids.ts'
import { LIST_MAX } from '../../bounds.ts'
import type { StoreChange } from '../../rules/ruling.ts'
import type { EmbeddedEntries, IndexLookup } from '../../search/lookup.ts'
import type { ReadUnembedded, Unembedded } from '../../vector-rows.ts'
import type { Connections, LoanedClient, Query } from '../connections/connections.ts'
import { type Columns, toText } from '../tables.ts'

/** The rows of embeddings: each session's progress (`embedded`) and the vectors (`entry_vector`). */
const PUT_EMBEDDED = `insert into embedded (session, model, dimension, upto) values ($1, $2, $3, $4)
  on conflict (session) do update
  set model = excluded.model, dimension = excluded.dimension, upto = excluded.upto`
const INSERT_VECTORS = `insert into entry_vector (session, number, bytes)
  select * from unnest($1::text[], $2::bigint[], $3::bytea[])`

export function vectorWrites({
  vectorsRemoved,
  embedded = [],
  vectors = [],
}: StoreChange): readonly Query[] {
  const removed = vectorsRemoved === undefined ? [] : [toText(vectorsRemoved)]
  return [
    ...removed.flatMap((id) => [
      { text: 'delete from entry_vector where session = $1', values: [id] },
      { text: 'delete from embedded where session = $1', values: [id] },
    ]),
    ...embedded.map(({ sessionId, model, dimension, upto }) => ({
      text: PUT_EMBEDDED,
      values: [toText(sessionId), toText(model), dimension, upto],
    })),
    ...(vectors.length === 0
      ? []
      : [
          {
            text: INSERT_VECTORS,
            values: [
              vectors.map(({ sessionId }) => toText(sessionId)),
              vectors.map(({ number }) => number),
              vectors.map(({ bytes }) => Buffer.from(bytes)),
            ],
          },
        ]),
  ]
}

const BEHIND = `from (
    select id, n, tail, coalesce(upto, case when origin is null then 0 else forked_at end) as after
    from session left join embedded on embedded.session = session.id and embedded.model = $1
  ) as line where tail > after`

export async function readUnembedded(
  connections: Connections,
  { model, limit }: ReadUnembedded,
): Promise<Unembedded> {
  const values = [toText(model)]
  const [sum] = await connections.query({
    text: `select coalesce(sum(tail - after), 0)::bigint as entries ${BEHIND}`,
    values,
  })
  const sessions = await connections.query({
    text: `select id as "sessionId", after, tail as upto ${BEHIND} order by n desc limit $2`,
    values: [...values, Math.min(limit, LIST_MAX)],
  })
  return {
    sessions: sessions as unknown as Unembedded['sessions'],
    entries: Number(sum?.['entries'] ?? 0),
  }
}

export async function readVectors(
  loan: LoanedClient,
  { of, model, dimension }: IndexLookup & { readonly want: 'vectors' },
  idOf: (session: number) => SessionId,
): Promise<readonly EmbeddedEntries[]> {
  const ids = of.map((session) => toText(idOf(session)))
  const [embedded = [], vectors = []] = await loan.send([
    {
      text: `select session, upto from embedded
        where session = any($1) and model = $2 and dimension = $3`,
      values: [ids, toText(model), dimension],
    },
    {
      text: `select session, number, bytes from entry_vector join embedded using (session)
        where session = any($1) and model = $2 and dimension = $3 order by number`,
      values: [ids, toText(model), dimension],
    },
  ])
  const ends = new Map(embedded.map(({ session, upto }) => [session, upto as number]))
  const found = Map.groupBy(vectors, ({ session }) => session)
  return ids.map((id) => ({
    upto: ends.get(id) ?? 0,
    entries: (found.get(id) ?? []).map(embeddedEntry),
  }))
}

function embeddedEntry({ number, bytes }: Columns): EmbeddedEntries['entries'][number] {
  return { number: number as number, bytes: bytes as Uint8Array }
}
