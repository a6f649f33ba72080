/** The tables of the first version; later steps are in `migrations.ts`. */
export const FIRST_TABLES = `
create table store (
  one integer primary key check (one = 1),
  id text not null,
  schema integer not null,
  commits bigint not null,
  hash text not null
);

create table runner (
  id text collate "C" primary key,
  boot text not null,
  process bigint not null,
  started_at bigint not null,
  beat bigint not null,
  lease_ms bigint not null
) with (fillfactor = 50);

create table session (
  n bigint generated always as identity,
  id text collate "C" primary key check (id ~ '^[A-Za-z0-9_-]{1,64}$'),
  agent text not null,
  state text not null check (state in ('open', 'erasing', 'gone')),
  birth text not null,
  created_at bigint not null,
  fence bigint not null,
  runner text collate "C",
  holder text,
  recovered bigint not null,
  tail bigint not null,
  tail_hash bytea not null check (length(tail_hash) = 32),
  base bigint not null,
  seen bigint not null,
  effective bigint not null,
  covers bigint not null,
  handoff_by text,
  rewrites bigint not null,
  operation text collate "C",
  turn bigint not null,
  turn_state text not null check (turn_state in ('idle', 'running')),
  attempts bigint not null,
  open_calls text not null,
  mail bigint not null,
  delivered text not null,
  settled text not null,
  pending text not null,
  replies bigint not null,
  policy text not null,
  wake_at bigint,
  limits text not null,
  pins text not null,
  settings bigint not null,
  tasks bigint not null,
  work boolean not null,
  check (tail >= seen and tail >= base and seen >= covers),
  check ((runner is null) = (holder is null))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
create unique index session_n on session (n);
create index session_runner on session (runner) where runner is not null;
create index session_work on session (agent) where work;
create index session_wake on session (wake_at) where wake_at is not null;

create table entry (
  session text collate "C" not null,
  number bigint not null,
  kind text not null,
  operation text not null,
  fence bigint not null,
  at bigint not null,
  tokens bigint not null,
  meta text not null,
  body text,
  salt bytea check (length(salt) = 16),
  body_hash bytea not null check (length(body_hash) = 32),
  prev_hash bytea not null check (length(prev_hash) = 32),
  hash bytea not null check (length(hash) = 32),
  primary key (session, number),
  check ((body is null) = (salt is null))
);
create index entry_folded on entry (session, number)
  where kind not in ('input', 'assistant', 'result', 'turn');
create function entry_changes_by_erasure_only() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    raise exception 'entries are never deleted';
  end if;
  if new.body is not null or new.session <> old.session or new.number <> old.number
    or new.kind <> old.kind or new.operation <> old.operation or new.fence <> old.fence
    or new.at <> old.at or new.tokens <> old.tokens or new.meta <> old.meta
    or new.body_hash <> old.body_hash or new.prev_hash <> old.prev_hash or new.hash <> old.hash then
    raise exception 'entries are never changed';
  end if;
  return new;
end $$;
create trigger entry_guard before update or delete on entry
  for each row execute function entry_changes_by_erasure_only();

create table mail (
  session text collate "C" not null,
  number bigint not null,
  lane text not null check (lane in ('control', 'user', 'notification')),
  control text,
  source text,
  key text,
  body text,
  tokens bigint not null,
  state text not null check (state in ('admitted', 'withdrawn', 'settled')),
  turn_at bigint,
  blobs text not null,
  at bigint not null,
  primary key (session, number)
);
create index mail_lane on mail (session, lane, number) where state = 'admitted';

create table intake (
  key_hash bytea primary key,
  body_hash bytea not null,
  session text collate "C" not null,
  number bigint not null
);

create table sender (
  session text collate "C" not null,
  source text collate "C" not null,
  pending bigint not null check (pending >= 0),
  primary key (session, source)
) with (fillfactor = 70);

create table operation (
  id text collate "C" primary key,
  n bigint generated always as identity,
  session text collate "C" not null,
  handoff_by text not null,
  cause text not null,
  reason text not null,
  fence bigint not null,
  base bigint not null,
  covers bigint not null,
  previous bigint not null,
  state text not null,
  result text not null,
  started_at bigint not null,
  ended_at bigint,
  check ((state = 'running') = (ended_at is null))
);
create unique index operation_running on operation (session) where state = 'running';
create index operation_session on operation (session, n);

create table reply (
  session text collate "C" not null,
  number bigint not null,
  entry bigint not null,
  edge text not null,
  address text collate "C" not null,
  key text not null,
  body text,
  state text not null check (state in ('waiting', 'sent', 'dead')),
  attempt bigint not null,
  claimant text collate "C",
  due_at bigint not null,
  at bigint not null,
  receipt text not null,
  primary key (session, number)
);
create index reply_waiting on reply (edge, session, address, number) where state = 'waiting';
create index reply_entry on reply (session, entry);

create table route (
  agent text collate "C" not null,
  channel text collate "C" not null,
  address text collate "C" not null,
  session text collate "C" not null,
  version bigint not null,
  primary key (agent, channel, address)
);
create index route_session on route (session);

create table blob (
  session text collate "C" not null,
  hash bytea not null check (length(hash) = 32),
  media_type text not null,
  bytes bytea not null,
  uses bigint not null check (uses >= 0),
  at bigint not null,
  primary key (session, hash)
);
alter table blob alter bytes set storage external;
create index blob_staged on blob (at) where uses = 0;

create table attempt (
  id text collate "C" primary key,
  session text collate "C" not null,
  task text not null,
  model_route text not null,
  outcome text not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  at bigint not null
);
create index attempt_session on attempt (session, at);
create index attempt_route on attempt (model_route, at);

create table audit (
  id bigint generated always as identity primary key,
  cursor bigint,
  session text collate "C" not null,
  operation text collate "C",
  phase text,
  line text not null,
  hash bytea check (length(hash) = 32),
  check ((cursor is null) = (hash is null))
);
create unique index audit_cursor on audit (cursor) where cursor is not null;
create index audit_unchained on audit (id) where cursor is null;
create unique index audit_phase on audit (operation, phase) where operation is not null;
create index audit_session on audit (session, cursor);

create function chain_audit(most integer) returns boolean language plpgsql as $$
declare
  place record;
  unchained record;
  upto bigint;
  link text;
begin
  if not exists (select from audit where cursor is null) then return false; end if;
  select commits, hash into place from store where one = 1 for update;
  upto := place.commits;
  link := place.hash;
  for unchained in select id, line from audit where cursor is null order by id limit most loop
    upto := upto + 1;
    link := encode(sha256(convert_to('["' || link || '",' || upto || ',' || unchained.line, 'UTF8')), 'hex');
    update audit set cursor = upto, hash = decode(link, 'hex') where id = unchained.id;
  end loop;
  update store set commits = upto, hash = link where one = 1;
  return exists (select from audit where cursor is null);
end $$;

create function must_change_one(changed bigint) returns void language plpgsql as $$
begin
  if changed <> 1 then
    raise exception 'a session changed under its own transaction (% rows)', changed;
  end if;
end $$;

create table entry_words (
  session text collate "C" not null,
  number bigint not null,
  words tsvector not null,
  primary key (session, number)
);
create index entry_words_words on entry_words using gin (words);
create table indexed (
  session text collate "C" primary key,
  upto bigint not null
) with (fillfactor = 50);
`
