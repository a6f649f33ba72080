import { hashArgs, type Lookup, numberArgs, one, routeValues, textArgs } from '../lookup.ts'
import { type Columns, fromText, POSTGRES, SEALED_BLOB } from '../tables.ts'

/** A source without waiting messages has no row. */
const pendingOf: Lookup['decode'] = ([row]) =>
  (row?.['pending'] ?? null) === null ? 0 : POSTGRES.sender.decode(row as Columns).pending
const hashIn = (row: Columns) => (row['hash'] as Buffer).toString('hex')

/** The counts that a commit reads alone: how often a blob is used, and what a sender has waiting. */
export const BLOB_LOOKUPS = {
  blobUses: {
    text: `select ${SEALED_BLOB} from blob
      join unnest($1::text[], $2::bytea[]) as asked (session, hash) using (session, hash)
      order by session, hash for update of blob`,
    values: (asked) => [textArgs(asked, 0), hashArgs(asked, 1)],
    keyOf: (row) => [row['session'] as string, hashIn(row)],
    decode: one((row) => {
      POSTGRES.blob.check(row)
      return row['uses']
    }),
  },
  stagedBefore: {
    text: `select ${SEALED_BLOB}, $1::bigint as before from blob
      where uses = 0 and at < $1 order by at limit 1000 for update skip locked`,
    isSingle: true,
    values: ([args = []]) => [args[0]],
    keyOf: (row) => [row['before'] as number],
    decode: (rows) =>
      rows
        .filter(POSTGRES.blob.isWhole)
        .map((row) => ({ sessionId: row['session'], hash: hashIn(row) })),
  },
} as const satisfies Record<string, Lookup>

export const SENDER_LOOKUPS = {
  sourcePending: {
    text: `select ${POSTGRES.sender.columns} from sender
      join unnest($1::text[], $2::text[]) as asked (session, source) using (session, source)`,
    values: (asked) => [textArgs(asked, 0), textArgs(asked, 1)],
    keyOf: (row) => [row['session'] as string, fromText(row['source'] as string)],
    decode: pendingOf,
  },
  sourcePendingOfRoute: {
    text: `select route.session, asked.source, sender.pending, sender.seal
      from unnest($1::text[], $2::text[], $3::text[], $4::text[])
        as asked (agent, channel, address, source)
      join route using (agent, channel, address)
      left join sender on sender.session = route.session and sender.source = asked.source`,
    values: (asked) => [...routeValues(asked), textArgs(asked, 3)],
    keyOf: (row) => [row['session'] as string, fromText(row['source'] as string)],
    decode: pendingOf,
    serves: 'sourcePending',
  },
  sourcePendingOfMail: {
    text: `select distinct mail.session, mail.source, sender.pending, sender.seal
      from mail join unnest($1::text[], $2::bigint[]) as asked (session, number)
        using (session, number)
      left join sender on sender.session = mail.session and sender.source = mail.source
      where mail.source is not null`,
    values: (asked) => [textArgs(asked, 0), numberArgs(asked, 1)],
    keyOf: (row) => [row['session'] as string, fromText(row['source'] as string)],
    decode: pendingOf,
    serves: 'sourcePending',
  },
} as const satisfies Record<string, Lookup>
