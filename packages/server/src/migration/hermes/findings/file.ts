import type { Condition } from '../diagnose/store-condition.ts'
import type { SearchFault } from '../read/search-index.ts'
import { counted, type Finding, finding } from './finding.ts'
import type { StoreView } from './identity.ts'

/** Damage to the file itself that is not visible in any conversation. */
export function findFileFaults({ condition }: StoreView): Finding[] {
  return [
    ...unreadable(condition),
    ...condition.search.map(brokenSearch),
    ...damaged(condition),
    ...cutLog(condition),
    ...torn(condition),
    ...nameless(condition),
    ...lacking(condition),
  ]
}

function unreadable({ unreadable, unreadableCount, unreadableSessions }: Condition): Finding[] {
  const bySession = Map.groupBy(unreadable, ({ sessionId }) => sessionId)
  const ids = new Set([...bySession.keys(), ...unreadableSessions])
  return [...ids].map((id) => {
    const rows = bySession.get(id) ?? []
    const count = ids.size === 1 ? unreadableCount : rows.length
    const what =
      rows.length === 0 ? 'The row of a session holds' : counted(count, 'row holds', 'rows hold')
    return finding({
      kind: 'unreadable-text',
      severity: 'harm',
      certainty: 'certain',
      sessionIds: [id],
      title: `${what} invalid UTF-8`,
      explanation:
        `Python refuses such a row ("Could not decode to UTF-8"), so that Hermes cannot open ${id} at all. ` +
        'The bytes were cut, or written by a program that does not check them.',
      advice: `Importing reads the session, with a replacement character for each invalid byte. In Hermes, correct ${
        rows.length === 0
          ? 'the session'
          : `rows ${rows
              .slice(0, 9)
              .map((row) => row.id)
              .join(', ')}`
      } by hand in a copy.`,
      facts: { sessionId: id, rows: rows.map((row) => row.id) },
      rowCount: count,
    })
  })
}

const SEARCH: { readonly [problem in SearchFault['problem']]: (fault: SearchFault) => string } = {
  'no-table': ({ table, what }) =>
    what === ''
      ? `The table ${table} is missing, so searches find nothing.`
      : `The table ${table} is gone and ${what}: every message that Hermes writes fails.`,
  'no-triggers': ({ what }) =>
    `Triggers are missing (${what}), so searches do not find new messages.`,
  'not-whole': ({ table, what }) =>
    `${what} rows are not in ${table}, so searches do not find them.`,
  'not-readable': ({ table, what }) =>
    `${table} cannot be read (${what}); searches and writes fail.`,
}

function brokenSearch(fault: SearchFault): Finding {
  const isMendable = fault.problem === 'not-whole' || fault.problem === 'not-readable'
  return finding({
    kind: 'broken-search',
    severity: fault.problem === 'not-whole' ? 'risk' : 'harm',
    certainty: 'certain',
    sessionIds: [],
    title: `The search index ${fault.table} is broken`,
    explanation: `${SEARCH[fault.problem](fault)} The messages themselves are not affected.`,
    advice: isMendable
      ? '`throughline doctor hermes STORE --repair-to NEW` rebuilds it in a copy.'
      : 'Let Hermes rebuild it: stop Hermes, drop the rest of the index in a copy, and start Hermes with that copy. Importing does not need the index.',
    facts: { table: fault.table, problem: fault.problem, what: fault.what },
  })
}

function damaged({ damage }: Condition): Finding[] {
  if (damage === null) return []
  return [
    finding({
      kind: 'damaged-index',
      severity: 'harm',
      certainty: 'certain',
      sessionIds: [],
      title: 'A table or an index of the file is damaged',
      explanation: `SQLite says: ${damage.slice(0, 300)}. Reads through the index may miss rows or return wrong ones.`,
      advice:
        '`throughline doctor hermes STORE --repair-to NEW` writes a copy with new indexes. Keep this file until you have checked the copy.',
      facts: { damage },
    }),
  ]
}

function cutLog({ lostFrames }: Condition): Finding[] {
  if (lostFrames === 0) return []
  return [
    finding({
      kind: 'cut-log',
      severity: 'risk',
      certainty: 'suspected',
      sessionIds: [],
      title: 'The write-ahead log ends in the middle of a commit',
      explanation:
        `${counted(lostFrames, 'page')} behind the last whole commit in the -wal file cannot be used: it was cut short, or copied while Hermes wrote to it. ` +
        'The newest messages may be missing from everything below.',
      advice: 'Stop Hermes, copy state.db and state.db-wal again together, and examine that copy.',
      facts: { lostFrames },
    }),
  ]
}

function torn({ torn: routes }: Condition): Finding[] {
  return routes.map(({ key, from }) =>
    finding({
      kind: 'torn-route',
      severity: 'harm',
      certainty: 'certain',
      sessionIds: [],
      title: key === null ? `${from} cannot be read` : 'The entry of a route cannot be read',
      explanation:
        key === null
          ? `${from} is not JSON that names sessions: it was cut short or overwritten. Chats cannot find their conversations, and an import brings no routes.`
          : `The entry for ${key} in ${from} is not JSON, or names no session. The next message there starts without memory.`,
      advice:
        key === null
          ? 'Restore it from a backup; each entry is a key with the `session_id` that it leads to.'
          : `Write the entry of ${key} again, with the \`session_id\` of its conversation.`,
      facts: { key, from },
    }),
  )
}

function nameless({ nameless: { sessions, rows } }: Condition): Finding[] {
  if (sessions + rows === 0) return []
  return [
    finding({
      kind: 'nameless-rows',
      severity: 'risk',
      certainty: 'certain',
      sessionIds: [],
      title: `${counted(sessions, 'session')} and ${counted(rows, 'message')} have no session id`,
      explanation:
        'Their id is NULL or empty, which no version of Hermes writes. No context shows them.',
      advice:
        'Importing gives messages without an id a session of their own; sessions without one hold nothing.',
      facts: { sessions, rows },
    }),
  ]
}

function lacking({ missingColumns }: Condition): Finding[] {
  if (missingColumns.length === 0) return []
  return [
    finding({
      kind: 'missing-columns',
      severity: 'note',
      certainty: 'certain',
      sessionIds: [],
      title: `${counted(missingColumns.length, 'column is', 'columns are')} missing that its schema number requires`,
      explanation: `It lacks ${missingColumns.join(', ')}: a migration did not finish, or the columns were removed. Findings that need them are only suspected, or left out.`,
      advice: 'Hermes adds missing columns when it opens the store; copy it first.',
      facts: { columns: missingColumns },
    }),
  ]
}
