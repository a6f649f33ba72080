import { mkdtempSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type SAMPLE_SCHEMAS, unpackSample } from './sample-stores.ts'

/** A day after the sample stores were written. */
export const SAMPLE_NOW = 1_794_800_000_000

/** A store that Hermes wrote, in a folder of its own and then harmed. */
export function damagedSample(
  schema: (typeof SAMPLE_SCHEMAS)[number],
  folder: string,
  sql = '',
): string {
  const home = mkdtempSync(join(folder, 'home-'))
  const path = join(home, 'state.db')
  renameSync(unpackSample(schema, home), path)
  const database = new DatabaseSync(path, { enableForeignKeyConstraints: false })
  database.enableDefensive(false)
  database.exec(sql)
  database.close()
  return path
}

const TABLES = ['sessions', 'messages', 'gateway_routing', 'gateway_hygiene_state']

/** The rows of a store as plain SQL reads them: those columns that say something. */
export function plainRows(path: string): ReadonlyMap<string, string> {
  const database = new DatabaseSync(path, { readOnly: true })
  const tables = database.prepare(`select name from sqlite_schema where type = 'table'`).all()
  const rows = tables
    .filter(({ name }) => TABLES.includes(String(name)))
    .flatMap(({ name }) =>
      database
        .prepare(`select rowid as n, * from ${name}`)
        .all()
        .map(({ n, ...row }) => {
          const said = Object.entries(row).filter(([, value]) => value !== null)
          return [`${name} ${n}`, JSON.stringify(Object.fromEntries(said), inShort)] as const
        }),
    )
  database.close()
  return new Map(rows)
}

/** What became of the rows of one store in another. */
export function changedRows(from: string, to: string): readonly string[] {
  const [before, after] = [plainRows(from), plainRows(to)]
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((key) => before.get(key) !== after.get(key))
    .flatMap((key) => [`- ${key} ${before.get(key)}`, `+ ${key} ${after.get(key)}`])
    .filter((line) => !line.endsWith(' undefined'))
}

const CHARACTERS_MAX = 40

export function inShort(_: string, value: unknown): unknown {
  return typeof value === 'string' && value.length > CHARACTERS_MAX
    ? `${value.slice(0, CHARACTERS_MAX)}… ${value.length}`
    : value
}

const [FIRST, SECOND, THIRD] = [
  '20260528_093510_66bfaec7',
  '20260528_161635_bb86b1',
  '20260528_184410_0c1d2e',
]
/** The seconds at which the stores were written. */
const THEN = 1_794_710_400
const session = (id: string, parent: string, at: number, more = ', null, null') =>
  `insert into sessions (id, source, started_at, parent_session_id, end_reason, ended_at)
   select '${id}', source, ${at}, '${parent}'${more} from sessions where id = '${FIRST}'`
const row = (id: string, at: number, role = 'user') =>
  `insert into messages (session_id, role, content, timestamp) values ('${id}', '${role}', 'and now', ${at})`

export type Damages = Readonly<Record<string, string>>

/** Of who continues whom. */
export const LINEAGE_DAMAGES: Damages = {
  'a fork': `${session('forked', FIRST, THEN)}; ${row('forked', THEN + 60)}; ${row('forked', THEN + 90, 'assistant')}`,
  'a fork of a fork': `${session('forked', FIRST, THEN, `, 'compression', ${THEN + 100}`)}; ${row('forked', THEN + 60)};
    ${session('on', 'forked', THEN + 100)}; ${row('on', THEN + 160)}`,
  'a branch': `${session('branch', SECOND, THEN, `, 'branched', ${THEN + 50}`)}; ${row('branch', THEN + 60)}`,
  'a circle': `update sessions set parent_session_id = '${THIRD}' where id = '${FIRST}'`,
  'an own parent': `update sessions set parent_session_id = id where id = '${THIRD}'`,
  'a missing parent': `update sessions set parent_session_id = 'gone' where id = '${SECOND}'`,
  'a missing middle': `delete from messages where session_id = '${SECOND}'; delete from sessions where id = '${SECOND}'`,
  'a continuation with another end': `update sessions set end_reason = 'session_reset' where id = '${FIRST}'`,
  'an open parent': `update sessions set end_reason = null, ended_at = null where id = '${FIRST}'`,
  'odd ends': `update sessions set end_reason = '?!' where id = '${FIRST}'; update sessions set end_reason = 'idle' where id = '20260602_090000_abc123';
    update sessions set ended_at = ${THEN} where id = '20260601_101010_1a2b3c4d'`,
}

/** Of the rows of conversations. */
export const ROW_DAMAGES: Damages = {
  'calls without results': 'delete from messages where id in (3, 52, 53)',
  'results without calls': 'update messages set tool_calls = null where id in (2, 51)',
  'torn calls': `update messages set tool_calls = '[{"id": "call_' where id in (2, 82)`,
  'doubled rows': `insert into messages (session_id, role, content, tool_call_id, tool_calls, tool_name, timestamp)
    select session_id, role, content, tool_call_id, tool_calls, tool_name, timestamp + 100 from messages where id between 64 and 70`,
  'a torn summary': `update messages set content = substr(content, 1, 90) where content like '[CONTEXT COMPACTION%' or content like '[CONTEXT SUMMARY%'`,
  'rows after the closing': `${row(FIRST, THEN + 500)}; ${row(SECOND, THEN + 600)}`,
  'homeless rows': `${row('ghost', THEN + 500)}; ${row('ghost', THEN + 600, 'assistant')}`,
  'everything deleted': `delete from messages where session_id = '${FIRST}' and id < 40`,
}

/** Of the file, and nothing at all. */
export const FILE_DAMAGES: Damages = {
  nothing: '',
  'rows without a name': `insert into sessions (id, source, started_at) values (null, 'cli', ${THEN})`,
  'impossible times': `update messages set timestamp = -5 where id = 3; update messages set timestamp = 99999999999 where id = 10;
    update messages set timestamp = 'noon' where id = 21; update sessions set started_at = ${THEN + 9e7} where id = '${THIRD}'`,
  'half letters': `update messages set content = cast(x'41ff8042' as text) where id = 3; update sessions set model = cast(x'41ff' as text) where id = '${THIRD}'`,
  'no search': 'drop table messages_fts',
  'no trigger': 'drop trigger messages_fts_insert',
  'an emptied index': 'delete from messages_fts_docsize where id > 20',
}

/** Of what schema 11 has no columns or tables for. */
export const LATER_DAMAGES: Damages = {
  'everything archived': `update messages set active = 0, compacted = 1 where session_id = '${THIRD}'`,
  'rows taken back': `update messages set active = 0 where id in (150, 151, 70)`,
  'a torn route': `update gateway_routing set entry_json = '{"session_i'`,
  'a route without a session': `update gateway_routing set entry_json = '{}'`,
  'a route to nowhere': `update gateway_routing set entry_json = '{"session_id": "gone"}'`,
  'a route to the first': `update gateway_routing set entry_json = '{"session_id": "${FIRST}", "platform": "telegram"}'`,
  'a route to an ended session': `update gateway_routing set entry_json = '{"session_id": "20260602_090000_abc123"}';
    update sessions set end_reason = 'session_reset', ended_at = ${THEN} where id = '20260602_090000_abc123'`,
  'a stuck compaction': `update sessions set compression_failure_cooldown_until = ${SAMPLE_NOW / 1_000 + 9_000}, compression_failure_error = 'no model',
    compression_fallback_streak = 3 where id = '${THIRD}'; insert into compression_locks values ('${FIRST}', 'h', ${THEN}, ${SAMPLE_NOW / 1_000 + 9_999})`,
  'a delegate': `${session('delegate', THIRD, THEN)}; update sessions set model_config = '{"_delegate_from": "${THIRD}"}' where id = 'delegate'; ${row('delegate', THEN + 1)}`,
  'a branch by command': `${session('branched', SECOND, THEN)}; update sessions set model_config = '{"_branched_from": "${SECOND}"}' where id = 'branched'; ${row('branched', THEN + 1)}`,
  'missing columns': 'alter table messages drop column api_content',
}
