import type { SessionId } from '../../../base/ids.ts'
import type { StoreChange } from '../../rules/ruling.ts'
import type { Values } from '../../tables/table.ts'
import { ERASED_TEXTS } from '../../tables/tables.ts'
import type { LoanedClient, Query } from '../connections/connections.ts'
import { type Columns, POSTGRES, prefixed, SEALED_BLOB, toBytes, toText } from '../tables.ts'

/** The keys and new seals of rows of which a change sets only some columns. */
export interface Resealed {
  readonly blobs: readonly Columns[]
  readonly mail: readonly Columns[]
  readonly reply: readonly Columns[]
}

const NOTHING: Resealed = { blobs: [], mail: [], reply: [] }

/**
 * A seal covers the whole row, so the rows are read first, under the locks that the commit has. Most
 * commits count no blob and erase nothing, and cost no round trip here.
 */
export async function resealRows(loan: LoanedClient, change: StoreChange): Promise<Resealed> {
  const uses = (change.blobUses ?? []).filter((blob) => blob.uses > 0)
  const erase = change.erase ?? []
  const erasesTexts = erase.some(({ mail, replies }) => mail.length + replies.length > 0)
  if (uses.length === 0 && !erasesTexts) return NOTHING
  const [blobs = [], mail = [], reply = []] = await loan.send([
    {
      text: `select ${SEALED_BLOB} from blob
        join unnest($1::text[], $2::bytea[]) as asked (session, hash) using (session, hash)`,
      values: [
        uses.map(({ sessionId }) => toText(sessionId)),
        uses.map(({ hash }) => toBytes(hash)),
      ],
    },
    textsQuery(
      'mail',
      erase.map(({ sessionId, mail }) => [sessionId, mail]),
    ),
    textsQuery(
      'reply',
      erase.map(({ sessionId, replies }) => [sessionId, replies]),
    ),
  ])
  return {
    blobs: blobs.flatMap((row) => {
      const hash = (row['hash'] as Buffer).toString('hex')
      const counted = uses.find(
        (blob) => blob.hash === hash && toText(blob.sessionId) === row['session'],
      )
      if (counted === undefined) return []
      const seal = POSTGRES.blob.reseal(row, { uses: counted.uses })
      return [{ session: row['session'], hash: toBytes(hash), uses: counted.uses, seal }]
    }),
    mail: mail.map((row) => erasedRow('mail', row, stateIn(change, row))),
    reply: reply.map((row) => erasedRow('reply', row)),
  }
}

function textsQuery(
  table: keyof typeof ERASED_TEXTS,
  of: readonly (readonly [id: SessionId, numbers: readonly number[]])[],
): Query {
  const asked = of.flatMap(([id, numbers]) =>
    numbers.map((number) => [toText(id), number] as const),
  )
  return {
    text: `select ${prefixed(POSTGRES[table].columns, table)} from ${table}
      join unnest($1::text[], $2::bigint[]) as asked (session, number) using (session, number)`,
    values: [asked.map(([id]) => id), asked.map(([, number]) => number)],
  }
}

/** A message may be settled by the commit that erases it. */
function stateIn({ mail = [] }: StoreChange, { session, number }: Columns): Values {
  const after = mail.find((each) => {
    return each.mail.number === number && toText(each.sessionId) === session
  })
  return after === undefined ? {} : { state: after.mail.state }
}

function erasedRow(table: keyof typeof ERASED_TEXTS, row: Columns, change: Values = {}): Columns {
  const seal = POSTGRES[table].reseal(row, { ...change, ...ERASED_TEXTS[table] })
  return { session: row['session'], number: row['number'], seal }
}
