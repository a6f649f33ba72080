import { DatabaseSync } from 'node:sqlite'

/**
 * Where each version of Hermes goes on from a session, as SQL of its own: the newest child that was
 * opened at or after the closing (up to schema 16), or the best of those that are no branch, delegate
 * or tool.
 */
const NEWEST = `select id from sessions where parent_session_id = :at
  and started_at >= (select ended_at from sessions where id = :at and end_reason = 'compression')
  order by started_at desc limit 1`

function ranked(columns: ReadonlySet<string>): string {
  const mark = (name: string) =>
    columns.has('model_config')
      ? `and json_extract(coalesce(child.model_config, '{}'), '$.${name}') is null`
      : ''
  const active = columns.has('last_activity_at') ? 'child.last_activity_at' : 'null'
  return `select child.id from sessions parent join sessions child on child.parent_session_id = parent.id
    where parent.id = :at and parent.end_reason = 'compression'
      ${mark('_branched_from')} ${mark('_delegate_from')}
      and coalesce(child.source, '') != 'tool'
    order by case when child.end_reason = 'compression' then 0 when child.ended_at is null then 1 else 2 end,
      coalesce((select max(v) from (select ${active} as v union all
        select max(timestamp) from messages where session_id = child.id)), child.started_at) desc,
      child.started_at desc, child.id desc limit 1`
}

export function hermesTip(path: string, sessionId: string): string {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    const version = Number(
      database.prepare('select version from schema_version').get()?.['version'],
    )
    const columns = database.prepare(`select name from pragma_table_info('sessions')`).all()
    const names = new Set(columns.map((column) => String(column['name'])))
    const step = database.prepare(version <= 16 ? NEWEST : ranked(names))
    const seen = new Set([sessionId])
    let at = sessionId
    for (let hop = 0; hop < 100; hop++) {
      const next = step.get({ at })?.['id']
      if (typeof next !== 'string' || seen.has(next)) return at
      seen.add(next)
      at = next
    }
    return at
  } finally {
    database.close()
  }
}

/** Hermes takes no message for a session that compaction closed. */
export function isClosedToWriters(path: string, sessionId: string): boolean {
  const database = new DatabaseSync(path, { readOnly: true })
  const row = database
    .prepare('select ended_at, end_reason from sessions where id = ?')
    .get(sessionId)
  database.close()
  return row?.['end_reason'] === 'compression' && row['ended_at'] !== null
}
