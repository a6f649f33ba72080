import { column, type Lookup, many, textArgs } from '../lookup.ts'
import { withoutUnrecorded } from './records.ts'

/** What the rule of `adoptSession` reads of erasures. */
export const ERASURE_LOOKUPS = {
  erased: {
    text: `select session, number, encode(hash, 'hex') as hash from entry
      where session = any($1) and body is null order by session, number`,
    values: (asked) => [textArgs(asked, 0)],
    keyOf: column('session'),
    check: withoutUnrecorded,
    decode: many((row) => row['hash']),
  },
} as const satisfies Record<string, Lookup>
