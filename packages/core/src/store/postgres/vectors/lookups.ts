import { column, type Lookup, many, numberArgs, one, textArgs } from '../lookup.ts'
import { POSTGRES } from '../tables.ts'

/** What the rule of `putVectors` reads. */
export const VECTOR_LOOKUPS = {
  embedded: {
    text: `select ${POSTGRES.embedded.columns} from embedded where session = any($1)`,
    values: (asked) => [textArgs(asked, 0)],
    keyOf: column('session'),
    decode: one(POSTGRES.embedded.decode),
  },
  livingEntries: {
    text: `select asked.session, asked.after, asked.upto, entry.number
      from unnest($1::text[], $2::bigint[], $3::bigint[]) as asked (session, after, upto)
      join entry on entry.session = asked.session and entry.number > asked.after
        and entry.number <= asked.upto and entry.body is not null`,
    values: (asked) => [textArgs(asked, 0), numberArgs(asked, 1), numberArgs(asked, 2)],
    keyOf: (row) => [row['session'] as string, row['after'] as number, row['upto'] as number],
    decode: many((row) => row['number']),
  },
} as const satisfies Record<string, Lookup>
