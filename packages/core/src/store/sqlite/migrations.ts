/**
 * The tables, as numbered steps that only ever go forward. A step adds tables, columns or indexes;
 * none rewrites a row of `entry`. Integer keys pack session and number (`session << 31 | number`):
 * clustered by session, a third of the size of a WITHOUT ROWID table, and the key of the search
 * index at once. The word index is derived from `passagesOf`: a change there needs a step here that
 * empties `word_page`, `passage_block` and `indexed`, because erasing finds pages by the words.
 */
const FIRST = `
create table store (
  one integer primary key check (one = 1),
  id text not null
) strict;

create table runner (
  id text primary key,
  boot text not null,
  process integer not null,
  started_at integer not null,
  beat integer not null,
  lease_ms integer not null
) strict, without rowid;

create table session (
  n integer primary key check (n between 1 and 4194303),
  id text not null unique check (length(id) between 1 and 64 and id not glob '*[^A-Za-z0-9_-]*'),
  agent text not null,
  state text not null check (state in ('open', 'erasing', 'gone')),
  birth text not null,
  created_at integer not null,
  fence integer not null,
  runner text,
  holder text,
  recovered integer not null,
  tail integer not null,
  tail_hash blob not null check (length(tail_hash) = 32),
  base integer not null,
  seen integer not null,
  effective integer not null,
  covers integer not null,
  handoff_by text,
  rewrites integer not null,
  operation text,
  turn integer not null,
  turn_state text not null check (turn_state in ('idle', 'running')),
  attempts integer not null,
  open_calls text not null,
  mail integer not null,
  delivered text not null,
  settled text not null,
  pending text not null,
  replies integer not null,
  policy text not null,
  wake_at integer,
  limits text not null,
  pins text not null,
  settings integer not null,
  tasks integer not null,
  work integer not null check (work in (0, 1)),
  check (tail >= seen and tail >= base and seen >= covers),
  check ((runner is null) = (holder is null))
) strict;
create index session_runner on session (runner) where runner is not null;
create index session_work on session (agent) where work = 1;
create index session_wake on session (wake_at) where wake_at is not null;

create table entry (
  id integer primary key,
  kind text not null,
  operation text not null,
  fence integer not null,
  at integer not null,
  tokens integer not null,
  meta text not null,
  body text,
  salt blob check (salt is null or length(salt) = 16),
  body_hash blob not null check (length(body_hash) = 32),
  prev_hash blob not null check (length(prev_hash) = 32),
  hash blob not null check (length(hash) = 32),
  check ((body is null) = (salt is null))
) strict;
create index entry_folded on entry (id)
  where kind not in ('input', 'assistant', 'result', 'turn');
create trigger entry_changes_by_erasure_only before update on entry
when new.body is not null or new.id <> old.id or new.kind <> old.kind or new.hash <> old.hash
  or new.operation <> old.operation or new.fence <> old.fence or new.at <> old.at
  or new.tokens <> old.tokens or new.meta <> old.meta or new.body_hash <> old.body_hash
  or new.prev_hash <> old.prev_hash
begin select raise(abort, 'entries are never changed'); end;
create trigger entry_is_never_deleted before delete on entry
begin select raise(abort, 'entries are never deleted'); end;

create table mail (
  id integer primary key,
  lane text not null check (lane in ('control', 'user', 'notification')),
  control text,
  source text,
  key text,
  body text,
  tokens integer not null,
  state text not null check (state in ('admitted', 'withdrawn', 'settled')),
  turn_at integer,
  blobs text not null,
  at integer not null
) strict;
create index mail_lane on mail ((id >> 31), lane, id) where state = 'admitted';

create table intake (
  key_hash blob primary key,
  body_hash blob not null,
  session integer not null,
  number integer not null
) strict, without rowid;

create table sender (
  session integer not null,
  source text not null,
  pending integer not null check (pending > 0),
  primary key (session, source)
) strict, without rowid;

create table operation (
  id text primary key,
  session integer not null,
  handoff_by text not null,
  cause text not null,
  reason text not null,
  fence integer not null,
  base integer not null,
  covers integer not null,
  previous integer not null,
  state text not null,
  result text not null,
  started_at integer not null,
  ended_at integer,
  check ((state = 'running') = (ended_at is null))
) strict;
create unique index operation_running on operation (session) where state = 'running';
create index operation_session on operation (session, started_at);

create table reply (
  id integer primary key,
  entry integer not null,
  edge text not null,
  address text not null,
  key text not null,
  body text,
  state text not null check (state in ('waiting', 'sent', 'dead')),
  attempt integer not null,
  claimant text,
  due_at integer not null,
  at integer not null,
  receipt text not null
) strict;
create index reply_waiting on reply (edge, (id >> 31), address, id) where state = 'waiting';

create table route (
  agent text not null,
  channel text not null,
  address text not null,
  session integer not null,
  version integer not null,
  primary key (agent, channel, address)
) strict, without rowid;
create index route_session on route (session);

create table blob (
  session integer not null,
  hash blob not null check (length(hash) = 32),
  media_type text not null,
  bytes blob not null,
  uses integer not null check (uses >= 0),
  at integer not null,
  unique (session, hash)
) strict;
create index blob_staged on blob (at) where uses = 0;

create table attempt (
  id text primary key,
  session text not null,
  task text not null,
  model_route text not null,
  outcome text not null,
  input_tokens integer not null,
  output_tokens integer not null,
  at integer not null
) strict;
create index attempt_session on attempt (session, at);
create index attempt_route on attempt (model_route, at);

create table audit (
  cursor integer primary key,
  at integer not null,
  session text not null,
  kind text not null,
  operation text,
  phase text,
  facts text not null,
  hash blob not null check (length(hash) = 32)
) strict;
create unique index audit_phase on audit (operation, phase) where operation is not null;
create index audit_session on audit (session, cursor);

create virtual table entry_words using fts5 (words, content = '', tokenize = 'ascii');
insert into entry_words (entry_words, rank) values ('secure-delete', 1);
create table indexed (
  session integer primary key,
  upto integer not null
) strict;
`

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

// Until here a lost holder was counted as an attempt, and most of what was counted is that.
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

export const SQLITE_STEPS: readonly string[] = [
  ...[FIRST, SECOND, THIRD, FOURTH, FIFTH, SIXTH, SEVENTH, EIGHTH, NINTH, TENTH, ELEVENTH],
  ...[TWELFTH, THIRTEENTH, FOURTEENTH],
]
