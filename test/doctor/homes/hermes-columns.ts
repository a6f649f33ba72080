import { dumps } from './python-json.ts'

/**
 * The columns of a Hermes store by the schema version that first had them: 4 to 11 step by step, as
 * their migrations added them; 26 and 30 as a whole, since from 11 on the columns come with the program
 * and not with the version.
 */
type Column = readonly [since: number, declaration: string]

const SESSIONS: readonly Column[] = [
  [4, 'id text primary key'],
  [4, 'source text not null'],
  [4, 'user_id text'],
  [26, 'session_key text'],
  [26, 'chat_id text'],
  [26, 'chat_type text'],
  [26, 'origin_json text'],
  [26, 'expiry_finalized integer default 0'],
  [4, 'model text'],
  [4, 'model_config text'],
  [4, 'system_prompt text'],
  [4, 'parent_session_id text'],
  [4, 'started_at real not null'],
  [4, 'ended_at real'],
  [4, 'end_reason text'],
  [4, 'message_count integer default 0'],
  [4, 'tool_call_count integer default 0'],
  [4, 'input_tokens integer default 0'],
  [4, 'output_tokens integer default 0'],
  [5, 'cache_read_tokens integer default 0'],
  [5, 'cache_write_tokens integer default 0'],
  [5, 'reasoning_tokens integer default 0'],
  [26, 'cwd text'],
  [5, 'billing_provider text'],
  [5, 'billing_base_url text'],
  [5, 'billing_mode text'],
  [5, 'estimated_cost_usd real'],
  [5, 'actual_cost_usd real'],
  [5, 'cost_status text'],
  [5, 'cost_source text'],
  [5, 'pricing_version text'],
  [4, 'title text'],
  [26, 'last_activity_at real'],
  [8, 'api_call_count integer default 0'],
  [11, 'handoff_state text'],
  [11, 'handoff_platform text'],
  [11, 'handoff_error text'],
  [26, 'compression_failure_cooldown_until real'],
  [26, 'compression_failure_error text'],
  [26, 'compression_fallback_streak integer not null default 0'],
  [26, 'compression_ineffective_count integer not null default 0'],
  [26, 'profile_name text'],
  [26, 'rewind_count integer not null default 0'],
  [30, 'created_source text'],
  [30, 'tool_names text'],
]

const MESSAGES: readonly Column[] = [
  [4, 'id integer primary key autoincrement'],
  [4, 'session_id text not null'],
  [4, 'role text not null'],
  [4, 'content text'],
  [4, 'tool_call_id text'],
  [4, 'tool_calls text'],
  [4, 'tool_name text'],
  [26, 'effect_disposition text'],
  [4, 'timestamp real not null'],
  [4, 'token_count integer'],
  [4, 'finish_reason text'],
  [6, 'reasoning text'],
  [7, 'reasoning_content text'],
  [6, 'reasoning_details text'],
  [6, 'codex_reasoning_items text'],
  [9, 'codex_message_items text'],
  [16, 'platform_message_id text'],
  [16, 'observed integer default 0'],
  [16, 'active integer not null default 1'],
  [16, 'compacted integer not null default 0'],
  [26, 'api_content text'],
  [26, 'display_kind text'],
  [26, 'display_metadata text'],
  [30, '_compressed_summary integer'],
  [30, 'display_order integer'],
]

export function columnsOf(version: number): {
  readonly sessions: readonly string[]
  readonly messages: readonly string[]
} {
  const until = (columns: readonly Column[]) =>
    columns.filter(([since]) => since <= version).map(([, declaration]) => declaration)
  return { sessions: until(SESSIONS), messages: until(MESSAGES) }
}

export const nameOf = (column: string) => column.split(' ')[0] ?? ''

/**
 * The search tables before schema 11: they held no text of their own but pointed at the messages, and
 * the one for parts of words came with schema 10.
 */
export function earlySearchSql(version: number): string {
  const tables = [
    ['messages_fts', ''],
    ...(version >= 10 ? [['messages_fts_trigram', ", tokenize = 'trigram'"]] : []),
  ]
  return tables
    .map(([name, tokenizer]) => {
      const add = `insert into ${name} (rowid, content) values (new.id, new.content);`
      const drop = `insert into ${name} (${name}, rowid, content) values ('delete', old.id, old.content);`
      return `create virtual table ${name} using fts5 (content, content = messages, content_rowid = id${tokenizer});
        create trigger ${name}_insert after insert on messages begin ${add} end;
        create trigger ${name}_delete after delete on messages begin ${drop} end;
        create trigger ${name}_update after update on messages begin ${drop} ${add} end;`
    })
    .join('\n')
}

type Values = { readonly [name: string]: string | number | null }

/** What Hermes notes of a session beside the conversation. */
export function sessionDetails(index: number): Values {
  return {
    user_id: `user-${index % 3}`,
    chat_type: 'dm',
    origin_json: dumps({ platform: 'telegram', chat: index }),
    input_tokens: 1_000 + index,
    output_tokens: 100 + index,
    cache_read_tokens: 7 * index,
    cache_write_tokens: 3 * index,
    reasoning_tokens: index,
    cwd: '/srv/agent',
    billing_provider: 'openrouter',
    billing_base_url: 'https://models.example/v1',
    billing_mode: 'api',
    estimated_cost_usd: 0.1 + index / 7,
    actual_cost_usd: index / 3,
    cost_status: 'estimated',
    cost_source: 'table',
    pricing_version: '2026-05',
    title: `Conversation ${index}`,
    api_call_count: 2 * index,
    handoff_platform: index % 4 === 1 ? 'discord' : null,
    rewind_count: index % 2,
  }
}

/** What Hermes keeps beside the words of a row; a copy has the same. */
export function rowDetails({
  id,
  role,
  hasCalls,
}: {
  id: number
  role: string
  hasCalls: boolean
}): Values {
  if (role === 'tool') return { tool_name: 'terminal', effect_disposition: 'unknown' }
  if (role === 'user') {
    return {
      platform_message_id: String(9_000 + id),
      api_content: id % 4 === 0 ? dumps([{ type: 'text', text: `As sent: ${id} … é` }]) : null,
    }
  }
  if (role !== 'assistant') return {}
  const every = (count: number, text: string) => (id % count === 0 ? text : null)
  return {
    token_count: 10 + id,
    finish_reason: hasCalls ? 'tool_calls' : 'stop',
    reasoning: every(3, `Considered ${id}, naïvely.`),
    reasoning_content: every(5, `Considered ${id}.`),
    reasoning_details: every(
      3,
      dumps([
        { type: 'reasoning.text', text: `Considered ${id}, naïvely.`, index: 0, score: 1e-7 },
      ]),
    ),
    codex_reasoning_items: every(
      7,
      dumps([{ type: 'reasoning', id: `rs_${id}`, encrypted_content: 'c2VhbGVk', summary: [] }]),
    ),
    codex_message_items: every(7, dumps([{ type: 'message', id: `msg_${id}`, phase: 'final' }])),
    display_kind: every(6, 'note'),
    display_metadata: every(6, dumps({ shown: true, at: [1, 2.0] })),
  }
}
