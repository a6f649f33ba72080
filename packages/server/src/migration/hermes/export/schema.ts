/**
 * The tables of a Hermes store, schema 26, the newest known exactly. A newer Hermes upgrades it on
 * opening; an older one reads the columns that it knows.
 */
const SCHEMA_VERSION = 26

const SESSION_TEXTS = [
  ...['user_id', 'session_key', 'chat_id', 'chat_type', 'thread_id', 'display_name', 'origin_json'],
  ...['model', 'model_config', 'system_prompt', 'system_prompt_hash', 'parent_session_id'],
  ...['end_reason', 'cwd', 'git_branch', 'git_repo_root', 'billing_provider', 'billing_base_url'],
  ...['billing_mode', 'cost_status', 'cost_source', 'pricing_version', 'title', 'title_source'],
  ...['last_activity_description', 'last_activity_provenance', 'handoff_state'],
  ...['handoff_platform', 'handoff_error', 'compression_failure_error', 'profile_name'],
]
const SESSION_COUNTS = [
  ...['expiry_finalized', 'message_count', 'tool_call_count', 'input_tokens', 'output_tokens'],
  ...['cache_read_tokens', 'cache_write_tokens', 'reasoning_tokens', 'api_call_count'],
]
const SESSION_FLAGS = [
  ...['git_metadata_generation', 'compression_fallback_streak', 'compression_ineffective_count'],
  ...['rewind_count', 'archived', 'pinned', 'hidden'],
]
const SESSION_REALS = [
  ...['ended_at', 'estimated_cost_usd', 'actual_cost_usd', 'last_activity_at'],
  ...['compression_failure_cooldown_until', 'last_read_at'],
]
/** The text columns of a message, which may be null. */
const MESSAGE_TEXTS = [
  ...['content', 'tool_call_id', 'tool_calls', 'tool_name', 'effect_disposition', 'finish_reason'],
  ...['reasoning', 'reasoning_content', 'reasoning_details', 'codex_reasoning_items'],
  ...['codex_message_items', 'platform_message_id', 'api_content', 'display_kind'],
  'display_metadata',
]

export const MESSAGE_COLUMNS: readonly string[] = [
  ...['session_id', 'role', 'timestamp', 'token_count', 'observed', 'active', 'compacted'],
  // Schema 30 recognizes a handoff by it; other versions ignore it.
  '_compressed_summary',
  ...MESSAGE_TEXTS,
]

export const SESSION_COLUMNS: readonly string[] = [
  ...['id', 'source', 'started_at', ...SESSION_TEXTS, ...SESSION_COUNTS, ...SESSION_FLAGS],
  ...SESSION_REALS,
]

const typed = (type: string, names: readonly string[]) => names.map((name) => `${name} ${type}`)

export const SCHEMA = `
create table schema_version (version integer not null);
insert into schema_version values (${SCHEMA_VERSION});
create table system_prompts (hash text primary key, prompt text not null);
create table sessions (id text primary key, source text not null, started_at real not null,
  ${[
    ...typed('text', SESSION_TEXTS),
    ...typed('integer default 0', SESSION_COUNTS),
    ...typed('integer not null default 0', SESSION_FLAGS),
    ...typed('real', SESSION_REALS),
  ].join(', ')},
  foreign key (parent_session_id) references sessions (id),
  foreign key (system_prompt_hash) references system_prompts (hash));
create table messages (id integer primary key autoincrement,
  session_id text not null references sessions (id), role text not null, timestamp real not null,
  token_count integer, observed integer default 0, active integer not null default 1,
  compacted integer not null default 0, _compressed_summary integer,
  ${typed('text', MESSAGE_TEXTS).join(', ')});
create table session_model_usage (session_id text not null references sessions (id) on delete cascade,
  model text not null,
  ${typed("text not null default ''", ['billing_provider', 'billing_base_url', 'billing_mode', 'task']).join(', ')},
  ${typed('integer not null default 0', SESSION_COUNTS.slice(3)).join(', ')},
  estimated_cost_usd real not null default 0, actual_cost_usd real not null default 0,
  cost_status text, cost_source text, first_seen real, last_seen real,
  primary key (session_id, model, billing_provider, billing_base_url, billing_mode, task));
create table state_meta (key text primary key, value text);
create table gateway_routing (scope text not null default '', session_key text not null,
  entry_json text not null, updated_at real not null, primary key (scope, session_key));
create table gateway_hygiene_state (session_key text primary key,
  failure_streak integer not null default 0);
create table compression_locks (session_id text primary key, holder text not null,
  acquired_at real not null, expires_at real not null);
create table session_turn_leases (conversation_id text primary key, holder text not null,
  acquired_at real not null, expires_at real not null);
create table async_delegations (delegation_id text primary key, origin_session text not null,
  origin_ui_session_id text not null default '', parent_session_id text, state text not null,
  dispatched_at real not null, completed_at real, updated_at real not null, event_json text,
  result_json text, delivery_state text not null default 'pending',
  delivery_attempts integer not null default 0, delivered_at real, owner_pid integer,
  owner_started_at integer, task_json text, delivery_claim text, delivery_claimed_at real);
create index idx_sessions_source on sessions (source);
create index idx_sessions_parent on sessions (parent_session_id);
create index idx_sessions_started on sessions (started_at desc);
create unique index idx_sessions_title_unique on sessions (title) where title is not null;
create index idx_messages_session on messages (session_id, timestamp);
create index idx_messages_session_id on messages (session_id, id);
create index idx_messages_session_active on messages (session_id, active, timestamp);
${searchIndex('messages_fts', 'messages', '', 'true', 'true')}
create view messages_fts_trigram_src as
  select id, role, content, tool_name, tool_calls from messages where role <> 'tool';
${searchIndex('messages_fts_trigram', 'messages_fts_trigram_src', ", tokenize='trigram'", "new.role <> 'tool'", "old.role <> 'tool'")}`

/** One full-text index, maintained by triggers unless Hermes is about to rebuild it. */
function searchIndex(
  table: string,
  content: string,
  options: string,
  isNew: string,
  isOld: string,
): string {
  const columns = ['content', 'tool_name', 'tool_calls']
  const list = (row: string) => columns.map((column) => `${row}.${column}`).join(', ')
  const built = (row: string) =>
    `(${row}.id > coalesce((select cast(value as integer) from state_meta
        where key = 'fts_rebuild_high_water'), -1)
      or ${row}.id <= coalesce((select cast(value as integer) from state_meta
        where key = 'fts_rebuild_progress'), -1))`
  const take = `insert into ${table} (rowid, ${columns.join(', ')})
    select new.id, ${list('new')} where ${isNew};`
  const drop = `insert into ${table} (${table}, rowid, ${columns.join(', ')})
    select 'delete', old.id, ${list('old')} where ${isOld};`
  return `create virtual table ${table} using fts5(${columns.join(', ')},
  content='${content}', content_rowid='id'${options});
create trigger ${table}_insert after insert on messages when ${built('new')} begin ${take} end;
create trigger ${table}_delete after delete on messages when ${built('old')} begin ${drop} end;
create trigger ${table}_update after update of ${columns.join(', ')}, role on messages
  when ${built('old')} begin ${drop} ${take} end;`
}
