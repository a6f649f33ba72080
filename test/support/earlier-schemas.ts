/** Reverts the newest migrations of each engine, for tests that open an earlier store. */
const unsealed = (...tables: readonly string[]) =>
  tables.map((table) => `alter table ${table} drop column seal;`).join(' ')
const UNSEALED_20 = unsealed(
  ...['session', 'mail', 'operation', 'blob', 'sender', 'intake', 'runner'],
)
const UNSEALED_19 = unsealed('route', 'note', 'schedule', 'token', 'reply')

export const SQLITE_TO_19 = `${UNSEALED_20} pragma user_version = 19;`

export const SQLITE_TO_18 = `${SQLITE_TO_19} ${UNSEALED_19} pragma user_version = 18;`

export const SQLITE_TO_15 = `${SQLITE_TO_18}
  drop table usage; drop table word_runs; drop table word_total; drop table unindexed;
  drop index session_by_agent; drop index session_by_scope;
  pragma user_version = 15;`

export const SQLITE_TO_9 = `${SQLITE_TO_15}
  drop table embedded; drop table entry_vector;
  alter table session drop column losses;
  drop index session_root; drop index session_origin;
  alter table session drop column origin; alter table session drop column forked_at;
  alter table session drop column root; alter table session drop column owed;
  alter table session drop column retained;
  alter table attempt drop column agent; alter table attempt drop column turn;
  alter table attempt drop column step;
  drop index reply_due; drop index reply_unsent; drop index reply_entry;
  drop index attempt_auxiliary; drop index attempt_route;
  drop index session_agent; drop index session_erasing;
  drop index schedule_waiting; drop index schedule_of_session;
  alter table reply drop column leads;
  create index attempt_route on attempt (model_route, at);
  pragma user_version = 9;`

export const POSTGRES_TO_19 = `${UNSEALED_20} update store set schema = 19;`

export const POSTGRES_TO_18 = `${POSTGRES_TO_19} ${UNSEALED_19} update store set schema = 18;`

export const POSTGRES_TO_15 = `${POSTGRES_TO_18}
  drop table usage, word_runs, word_total, unindexed; drop index session_scope;
  update store set schema = 15;`

export const POSTGRES_TO_8 = `${POSTGRES_TO_15}
  drop table embedded, entry_vector;
  alter table store add column commits bigint, add column hash text;
  update store set commits = chain.commits, hash = chain.hash from chain;
  drop table chain;
  drop function lineage; drop index session_root, session_origin;
  alter table session drop column origin, drop column forked_at, drop column root,
    drop column owed, drop column retained, drop column losses;
  alter table attempt drop column agent, drop column turn, drop column step;
  drop index reply_due, reply_unsent, attempt_auxiliary, attempt_route, session_agent,
    session_erasing, schedule_waiting, schedule_of_session;
  alter table reply drop column leads;
  create index attempt_route on attempt (model_route, at);
  update store set schema = 8;`

export const SQLITE_TO_8 = `${SQLITE_TO_9}
  drop table word_page; drop table passage_block; alter table indexed drop column state;
  create virtual table entry_words using fts5 (words, content = '', tokenize = 'ascii');
  pragma user_version = 8;`
