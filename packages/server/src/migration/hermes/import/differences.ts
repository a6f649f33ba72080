import type { JsonObject, JsonValue } from '#core/base/json'
import type { AdoptedEntry } from '#core/store/adoption'
import { canonicalJson } from '#core/store/integrity/canonical'
import type { Entry } from '#core/store/tables/rows'
import { storedMessage } from '../../stored-message.ts'
import { handoffRow, messageRow } from '../export/row.ts'
import { MESSAGE_COLUMNS } from '../export/schema.ts'
import type { RawRow } from '../read/raw-rows.ts'

/**
 * The columns of a row that an export would write differently, computed from the entry to be
 * stored. They are kept with the message, so that the way back is exact for every row, including
 * forms that have not been seen yet.
 */
const OWN = new Set(['id', 'session_id', 'active', 'compacted'])

export function findDifferences(row: RawRow, adopted: AdoptedEntry): JsonObject {
  const written = writtenAgain(row, adopted)
  const different = MESSAGE_COLUMNS.flatMap((name): [string, JsonValue][] => {
    if (OWN.has(name) || !row.columns.includes(name)) return []
    const wanted: JsonValue = row.odd[name] ?? row.fields[name] ?? null
    const isSame = wanted === (written[name] ?? null) && !(name in row.odd)
    return isSame ? [] : [[name, wanted]]
  })
  return Object.fromEntries(different)
}

function writtenAgain(row: RawRow, { kind, body, ...adopted }: AdoptedEntry & object): JsonObject {
  const told = {
    kind: kind === 'aside' ? 'turn' : kind,
    body: canonicalJson(body),
    at: row.at,
    meta: adopted,
  } as unknown as Entry
  if (kind === 'compaction') return handoffRow(told) ?? {}
  const message = storedMessage(told)
  return (message === null ? undefined : messageRow(message, row.at)[0]) ?? {}
}
