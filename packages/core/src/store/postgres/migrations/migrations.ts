import { FIRST_TABLES } from './first-tables.ts'

const SECOND = `
alter table session add column title text;
alter table attempt add column cached_tokens bigint not null default 0;
alter table attempt add column cost bigint;
alter table attempt add column host text not null default '';
create index attempt_at on attempt (at);

create table schedule (
  id text collate "C" primary key,
  session text collate "C" not null,
  due_at bigint not null,
  repeat text,
  body text not null,
  tokens bigint not null,
  state text not null check (state in ('waiting', 'ended', 'cancelled')),
  fired bigint not null,
  fired_at bigint,
  at bigint not null
) with (fillfactor = 70);
create index schedule_due on schedule (due_at, id) where state = 'waiting';
create index schedule_session on schedule (session, state);

create table note (
  agent text collate "C" not null,
  id text collate "C" not null,
  text text not null,
  origin_session text collate "C",
  origin_entry bigint,
  at bigint not null,
  primary key (agent, id)
);
create index note_origin on note (origin_session, origin_entry) where origin_session is not null;

create table token (
  id text collate "C" primary key,
  hash bytea not null unique check (length(hash) = 32),
  scopes text not null,
  label text not null,
  created_at bigint not null,
  expires_at bigint
);
`

const THIRD = `
create table draft (
  session text collate "C" not null,
  key text collate "C" not null,
  ids text not null,
  at bigint not null,
  primary key (session, key)
) with (fillfactor = 70);
`

// Each existing token becomes its own principal, named as in its idempotency keys, so that a
// request repeated across the upgrade is still recognized.
const FOURTH = `
alter table token add column principal text collate "C" not null default '';
update token set principal = id;
`

// Each existing session gets its own scope, and each note the scope of its session. A note without
// a session has no scope: it is shown only where an agent shares its notes.
const FIFTH = `
alter table session add column scope text collate "C" not null default '';
update session set scope = id;

alter table note add column scope text collate "C" not null default '';
update note set scope = origin_session where origin_session is not null;
alter table note drop constraint note_pkey, add primary key (agent, scope, id);
`

// An existing title is in no hash until it is set again.
const SIXTH = `
alter table session add column title_salt text;
`

// Until now, only the reason named the control item.
const SEVENTH = `
alter table operation add column requested_by bigint;
update operation set requested_by = cast(substr(reason, 19) as bigint)
  where cause = 'manual' and reason ~ '^requested by mail [0-9]{1,15}$';
`

// Lists of passages replace GIN, which cannot rank by passage. Existing entries are indexed again
// in the background.
const EIGHTH = `
drop table entry_words;
delete from indexed;
alter table indexed add column state text not null default '';
create table word_page (
  session text collate "C" not null,
  run integer not null,
  root bytea not null,
  lists bytea not null,
  primary key (session, run, root)
);
alter table word_page alter column lists set storage external;
create table passage_block (
  session text collate "C" not null,
  number integer not null,
  entries bytea not null,
  lengths bytea not null,
  primary key (session, number)
);
`

// Indexes for frequent reads that do not grow with age. `leads`: the first reply waiting for its
// address, the only one that can be claimed.
const NINTH = `
alter table reply add column leads boolean not null default false;
update reply set leads = true where state = 'waiting' and body is not null and not exists (
  select from reply as earlier
  where earlier.edge = reply.edge and earlier.state = 'waiting'
    and earlier.session = reply.session and earlier.address = reply.address
    and earlier.number < reply.number and earlier.body is not null
);
create index reply_due on reply (edge, due_at, at, session, number)
  where state = 'waiting' and leads and body is not null;
create index reply_unsent on reply (state, session, number) where state <> 'sent';

drop index attempt_route;
create index attempt_route on attempt (model_route, task, at);
create index attempt_auxiliary on attempt (host, at) where task <> 'turn';

create index session_agent on session (agent, id);
create index session_erasing on session (id) where state = 'erasing';

create index schedule_waiting on schedule (id) where state = 'waiting';
create index schedule_of_session on schedule (session, id);
`

// An existing call belongs to the agent of its session; its turn is unknown.
const TENTH = `
alter table attempt add column agent text not null default '';
alter table attempt add column turn bigint;
alter table attempt add column step bigint;
update attempt set agent = session.agent from session where session.id = attempt.session;
`

// Forks. Sessions with one root share entries, so erasing checks them all. `lineage`: who keeps a
// session's entries, itself first; the last condition ends a cycle, which only damage makes.
const ELEVENTH = `
alter table session add column origin text collate "C";
alter table session add column forked_at bigint not null default 0;
alter table session add column root text collate "C";
alter table session add column owed text not null default '[]';
alter table session add column retained bigint not null default 0;
create index session_root on session (root) where root is not null;
create index session_origin on session (origin) where origin is not null;
create function lineage(wanted text) returns table (keeper text, first bigint, last bigint)
language sql stable strict rows 2 as $$
  with recursive line as (
    select id, origin, case when origin is null then 0 else forked_at end as before,
      9007199254740991 as upto
    from session where id = wanted
    union all
    select session.id, session.origin,
      case when session.origin is null then 0 else session.forked_at end, line.before
    from line join session on session.id = line.origin
    where case when session.origin is null then 0 else session.forked_at end < line.before
  )
  select id, before + 1, upto from line
$$;
`

// Until now a lost holder counted as an attempt, which explains most of the counts.
const TWELFTH = `
alter table session add column losses bigint not null default 0;
update session set losses = attempts, attempts = 0 where attempts > 0;
`

// Every commit reads the schema number in `store`, and the chain rewrote the row several times a second.
// While someone held a snapshot, each commit walked over all versions of the row since then. The chain
// has its own row now, and that of `store` changes with the schema only.
const THIRTEENTH = `
create table chain (
  one integer primary key check (one = 1),
  commits bigint not null,
  hash text not null
) with (fillfactor = 50);
insert into chain select one, commits, hash from store;
alter table store drop column commits, drop column hash;

create or replace function chain_audit(most integer) returns boolean language plpgsql as $$
declare
  place record;
  unchained record;
  upto bigint;
  link text;
begin
  if not exists (select from audit where cursor is null) then return false; end if;
  select commits, hash into place from chain where one = 1 for update;
  upto := place.commits;
  link := place.hash;
  for unchained in select id, line from audit where cursor is null order by id limit most loop
    upto := upto + 1;
    link := encode(sha256(convert_to('["' || link || '",' || upto || ',' || unchained.line, 'UTF8')), 'hex');
    update audit set cursor = upto, hash = decode(link, 'hex') where id = unchained.id;
  end loop;
  update chain set commits = upto, hash = link where one = 1;
  return exists (select from audit where cursor is null);
end $$;
`

// Roots follow the language of each entry now. Existing entries are indexed again in the background.
const FOURTEENTH = 'truncate indexed, word_page, passage_block'

// Vectors of passages, if embeddings are configured. They do not compress, so no time is spent on it.
const FIFTEENTH = `
create table embedded (
  session text primary key,
  model text not null,
  dimension integer not null check (dimension > 0),
  upto bigint not null
);
create table entry_vector (
  session text not null,
  number bigint not null,
  bytes bytea not null,
  primary key (session, number)
);
alter table entry_vector alter column bytes set storage external;
`

// One index for all sessions, so that a search of them reads each word once. Existing entries are
// indexed again in the background; until then the marks say which sessions are read directly.
const SIXTEENTH = `
drop table word_page;
create table word_page (
  run integer not null,
  key bytea not null,
  lists bytea not null,
  primary key (run, key)
);
alter table word_page alter column lists set storage external;
create table word_runs (
  one integer primary key check (one = 1),
  runs text not null
);
insert into word_runs (one, runs) values (1, '[]');
create table word_total (
  agent text collate "C" not null,
  scope text collate "C" not null,
  totals text not null,
  primary key (agent, scope)
);
create table unindexed (
  session text collate "C" not null,
  number bigint not null,
  primary key (session, number)
);
truncate indexed, passage_block;
insert into unindexed (session, number)
  select id, tail from session where tail > case when origin is null then 0 else forked_at end;
create index session_scope on session (scope);
`

// Model calls are dropped after a while; their sums stay.
const SEVENTEENTH = `
create table usage (
  session text collate "C" not null,
  day bigint not null,
  model_route text collate "C" not null,
  task text collate "C" not null,
  host text collate "C" not null,
  agent text collate "C" not null,
  attempts bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cached_tokens bigint not null,
  cost bigint not null,
  unpriced bigint not null,
  primary key (session, day, model_route, task, host)
);
create index usage_day on usage (day);
`

// The lists of words in fewer bytes, and the numbers of each session without their names. Everything is
// indexed again in the background; until then the marks say what is read directly.
const EIGHTEENTH = `
truncate word_page, word_total, passage_block, indexed;
update word_runs set runs = '[]';
insert into unindexed (session, number)
  select id, tail from session where tail > case when origin is null then 0 else forked_at end
  on conflict do nothing;
`

// Rows that no chain covers carry a hash of themselves. Existing ones get it when they are written again.
const NINETEENTH = `
alter table route add column seal bytea;
alter table note add column seal bytea;
alter table schedule add column seal bytea;
alter table token add column seal bytea;
alter table reply add column seal bytea;
`

// So do the rows of a session, of its mailbox and of what belongs to them.
const TWENTIETH = `
alter table session add column seal bytea;
alter table mail add column seal bytea;
alter table operation add column seal bytea;
alter table blob add column seal bytea;
alter table sender add column seal bytea;
alter table intake add column seal bytea;
alter table runner add column seal bytea;
`

/**
 * The tables, as numbered steps that only ever go forward; none rewrites a row of `entry`. Sessions
 * are named by their ids everywhere: on a server the few bytes saved by a number are not worth a
 * second name. Text that is hashed is `text`, never `jsonb`, which would reorder it.
 *
 * `audit` is one chain over the whole store, but a commit does not wait for it: a row is inserted
 * without cursor and hash, and `chain_audit` links whatever can be seen, in the order of ids. A chain
 * written by each commit would need one row that all commits lock until their sync is done, and one
 * paused process would stop every session. Readers chain before they read, so no row is ever missed.
 */
export const MIGRATIONS: readonly string[] = [
  ...[FIRST_TABLES, SECOND, THIRD, FOURTH, FIFTH, SIXTH, SEVENTH, EIGHTH, NINTH, TENTH],
  ...[ELEVENTH, TWELFTH, THIRTEENTH, FOURTEENTH, FIFTEENTH, SIXTEENTH, SEVENTEENTH, EIGHTEENTH],
  ...[NINETEENTH, TWENTIETH],
]
