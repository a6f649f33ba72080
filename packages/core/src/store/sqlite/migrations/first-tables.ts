/** The first step; later ones change these tables. */
export const SQLITE_FIRST_TABLES = `
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
