import { SQLITE_FIRST_TABLES } from './first-tables.ts'

// The two dropped indexes repeated what the rules enforce under the one write lock: one operation
// per session, one end per operation. They were four of the 38 pages that a compaction wrote.
const SECOND = `
drop index operation_running;
drop index audit_phase;
alter table session add column title text;
alter table attempt add column cached_tokens integer not null default 0;
alter table attempt add column cost integer;
alter table attempt add column host text not null default '';
create index attempt_at on attempt (at);

create table schedule (
  id text primary key,
  session text not null,
  due_at integer not null,
  repeat text,
  body text not null,
  tokens integer not null,
  state text not null check (state in ('waiting', 'ended', 'cancelled')),
  fired integer not null,
  fired_at integer,
  at integer not null
) strict;
create index schedule_due on schedule (due_at, id) where state = 'waiting';
create index schedule_session on schedule (session, state);

create table note (
  agent text not null,
  id text not null,
  text text not null,
  origin_session text,
  origin_entry integer,
  at integer not null,
  primary key (agent, id)
) strict;
create index note_origin on note (origin_session, origin_entry) where origin_session is not null;

create table token (
  id text primary key,
  hash blob not null unique check (length(hash) = 32),
  scopes text not null,
  label text not null,
  created_at integer not null,
  expires_at integer
) strict;
`

const THIRD = `
create table draft (
  session text not null,
  key text not null,
  ids text not null,
  at integer not null,
  primary key (session, key)
) strict, without rowid;
`

// The newest operation is the one that started last, not the one with the latest time: after the
// clock was set back, the running one sorted after those of the hour before and was not found.
const FOURTH = `
drop index operation_session;
create index operation_session on operation (session);
`

// Each existing token becomes a principal of its own, under the name that its idempotency keys had,
// so that a request repeated across the upgrade is still recognized.
const FIFTH = `
alter table token add column principal text not null default '';
update token set principal = id;
`

// Each existing session gets a scope of its own, and each note that of its session. A note without
// a session has no scope: it is shown only where an agent shares its notes.
const SIXTH = `
alter table session add column scope text not null default '';
update session set scope = id;

create table scoped_note (
  agent text not null,
  scope text not null,
  id text not null,
  text text not null,
  origin_session text,
  origin_entry integer,
  at integer not null,
  primary key (agent, scope, id)
) strict;
insert into scoped_note (agent, scope, id, text, origin_session, origin_entry, at)
  select agent, coalesce(origin_session, ''), id, text, origin_session, origin_entry, at from note;
drop table note;
alter table scoped_note rename to note;
create index note_origin on note (origin_session, origin_entry) where origin_session is not null;
`

// An existing title has no hash until it is set again.
const SEVENTH = `
alter table session add column title_salt text;
`

// Until now only the reason named the control item.
const EIGHTH = `
alter table operation add column requested_by integer;
update operation set requested_by = cast(substr(reason, 19) as integer)
  where cause = 'manual' and reason glob 'requested by mail [0-9]*';
`

// Passage lists replace FTS5, which counts the rows of all sessions and cannot rank by passage.
// Existing entries are indexed again in the background.
const NINTH = `
drop table entry_words;
delete from indexed;
alter table indexed add column state text not null default '';
create table word_page (
  id integer primary key,
  session integer not null,
  run integer not null,
  root blob not null,
  lists blob not null
) strict;
create unique index word_page_root on word_page (session, run, root);
create table passage_block (
  id integer primary key,
  entries blob not null,
  lengths blob not null
) strict;
`

// Frequent reads get indexes that do not grow with age. `leads`: the first waiting reply for its
// address, the only one that can be claimed.
const TENTH = `
alter table reply add column leads integer not null default 0 check (leads in (0, 1));
update reply set leads = 1 where state = 'waiting' and body is not null and not exists (
  select 1 from reply as earlier
  where earlier.edge = reply.edge and earlier.state = 'waiting'
    and earlier.id >> 31 = reply.id >> 31 and earlier.address = reply.address
    and earlier.id < reply.id and earlier.body is not null
);
create index reply_due on reply (edge, due_at, at)
  where state = 'waiting' and leads = 1 and body is not null;
create index reply_unsent on reply (state) where state <> 'sent';
create index reply_entry on reply ((id >> 31), entry);

drop index attempt_route;
create index attempt_route on attempt (model_route, task, at);
create index attempt_auxiliary on attempt (host, at) where task <> 'turn';

create index session_agent on session (agent, id);
create index session_erasing on session (id) where state = 'erasing';

create index schedule_waiting on schedule (id) where state = 'waiting';
create index schedule_of_session on schedule (session, id);
`

// An existing call gets the agent of its session; its turn is not known.
const ELEVENTH = `
alter table attempt add column agent text not null default '';
alter table attempt add column turn integer;
alter table attempt add column step integer;
update attempt set agent = coalesce((select agent from session where id = attempt.session), '');
`

// Forks. Sessions with the same root share entries, so an erasure checks all of them.
const TWELFTH = `
alter table session add column origin text;
alter table session add column forked_at integer not null default 0;
alter table session add column root text;
alter table session add column owed text not null default '[]';
alter table session add column retained integer not null default 0;
create index session_root on session (root) where root is not null;
create index session_origin on session (origin) where origin is not null;
`

// Earlier schemas counted a lost holder as an attempt, so most of the counted attempts are losses.
const THIRTEENTH = `
alter table session add column losses integer not null default 0;
update session set losses = attempts, attempts = 0 where attempts > 0;
`

// Roots follow the language of each entry now. Existing entries are indexed again in the background.
const FOURTEENTH = `
delete from indexed;
delete from word_page;
delete from passage_block;
`

// Vectors of passages, if embeddings are configured.
const FIFTEENTH = `
create table embedded (
  session integer primary key,
  model text not null,
  dimension integer not null check (dimension > 0),
  upto integer not null
) strict;
create table entry_vector (
  id integer primary key,
  bytes blob not null
) strict;
`

// One index for all sessions, so that a search of them reads each word once. Existing entries are
// indexed again in the background; until then the marks say which sessions are read directly.
const SIXTEENTH = `
drop table word_page;
create table word_page (
  id integer primary key,
  run integer not null,
  key blob not null,
  lists blob not null
) strict;
create unique index word_page_key on word_page (run, key);
create table word_runs (
  one integer primary key check (one = 1),
  runs text not null
) strict;
insert into word_runs (one, runs) values (1, '[]');
create table word_total (
  agent text not null,
  scope text not null,
  totals text not null,
  primary key (agent, scope)
) strict, without rowid;
create table unindexed (id integer primary key) strict;
delete from indexed;
delete from passage_block;
insert into unindexed (id)
  select n << 31 | tail from session where tail > iif(origin is null, 0, forked_at);
create index session_by_agent on session (agent);
create index session_by_scope on session (scope);
`

// Model calls are dropped after a while; their sums stay.
const SEVENTEENTH = `
create table usage (
  session text not null,
  day integer not null,
  model_route text not null,
  task text not null,
  host text not null,
  agent text not null,
  attempts integer not null,
  input_tokens integer not null,
  output_tokens integer not null,
  cached_tokens integer not null,
  cost integer not null,
  unpriced integer not null,
  primary key (session, day, model_route, task, host)
) strict, without rowid;
create index usage_day on usage (day);
`

// The lists of words in fewer bytes, and the numbers of each session without their names. Everything is
// indexed again in the background; until then the marks say what is read directly.
const EIGHTEENTH = `
delete from word_page;
delete from word_total;
delete from passage_block;
delete from indexed;
update word_runs set runs = '[]';
insert or ignore into unindexed (id)
  select n << 31 | tail from session where tail > iif(origin is null, 0, forked_at);
`

// Rows that no chain covers carry a hash of themselves. Existing ones get it when they are written again.
const NINETEENTH = `
alter table route add column seal blob;
alter table note add column seal blob;
alter table schedule add column seal blob;
alter table token add column seal blob;
alter table reply add column seal blob;
`

// So do the rows of a session, of its mailbox and of what belongs to them.
const TWENTIETH = `
alter table session add column seal blob;
alter table mail add column seal blob;
alter table operation add column seal blob;
alter table blob add column seal blob;
alter table sender add column seal blob;
alter table intake add column seal blob;
alter table runner add column seal blob;
`

/**
 * The tables, as numbered steps that only ever go forward. A step adds tables, columns or indexes;
 * none rewrites a row of `entry`. Integer keys pack session and number (`session << 31 | number`):
 * clustered by session, a third of the size of a WITHOUT ROWID table, and the key of the search
 * index at once. The word index is derived from `passagesOf`: a change there needs a step here that
 * empties `word_page`, `word_total`, `passage_block`, `indexed` and the runs and marks every session as
 * `unindexed`, because erasing finds pages by the words, and empties `entry_vector` and `embedded`,
 * which number the passages.
 */
export const SQLITE_STEPS: readonly string[] = [
  ...[
    SQLITE_FIRST_TABLES,
    SECOND,
    THIRD,
    FOURTH,
    FIFTH,
    SIXTH,
    SEVENTH,
    EIGHTH,
    NINTH,
    TENTH,
    ELEVENTH,
  ],
  ...[TWELFTH, THIRTEENTH, FOURTEENTH, FIFTEENTH, SIXTEENTH, SEVENTEENTH, EIGHTEENTH, NINETEENTH],
  TWENTIETH,
]
