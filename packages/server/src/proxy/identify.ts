import { isArray, isObject, type JsonObject } from '#core/base/json'
import type { HistoryItem } from './history.ts'
import { TOOLS_RANK } from './wire/responses.ts'
import type { ReadItem } from './wire/wire.ts'

/** The conversation and the purpose of a request, from the client's headers and body. */
export interface Identity {
  readonly client: string
  /** The client's id of the conversation; null: it sends none, and the history decides. */
  readonly session: string | null
  /** Set if the id is only a hint, such as a cache key; the history takes precedence. */
  readonly isHint?: true
  /** A sub-agent of that conversation. */
  readonly agent: string | null
  /** Another conversation of the client that started this one. */
  readonly parent: string | null
}

/**
 * `conversation`: to be recorded. `side`: titles and other small calls beside it. `compaction`: the
 * client wants its history summarized. `compaction-item`: and expects an item in the answer.
 */
export type Purpose = 'conversation' | 'side' | 'compaction' | 'compaction-item'

export interface RequestFacts {
  readonly headers: { readonly [name: string]: string | undefined }
  readonly fields: JsonObject
  readonly last: JsonObject | undefined
  readonly lastRead: ReadItem | undefined
  readonly items: readonly Pick<HistoryItem, 'rank'>[]
  /** From the base URL that `throughline run` set. */
  readonly launch: string | null
}

const CLAUDE_COMPACTION = 'CRITICAL: Respond with TEXT ONLY'

export function identify({ headers, fields, launch }: RequestFacts): Identity {
  const claude = headers['x-claude-code-session-id']
  if (claude !== undefined) {
    const agent = headers['x-claude-code-agent-id'] ?? null
    return { client: 'claude', session: claude, agent, parent: null }
  }
  const thread = headers['thread-id'] ?? headers['conversation_id']
  if (thread !== undefined || headers['x-codex-turn-metadata'] !== undefined) {
    const parent = headers['x-codex-parent-thread-id'] ?? null
    return { client: 'codex', session: thread ?? null, agent: null, parent }
  }
  const session = headers['x-session-id'] ?? headers['x-session-affinity']
  if (session !== undefined) {
    const parent = headers['x-parent-session-id'] ?? null
    const isOpencode = session.startsWith('ses_')
    return { client: isOpencode ? 'opencode' : 'agent', session, agent: null, parent }
  }
  const client = launch?.split('-', 1)[0] || 'agent'
  const { prompt_cache_key: key, metadata } = fields
  if (typeof key === 'string' && key !== '') {
    return { client, session: key, isHint: true, agent: null, parent: null }
  }
  const user = isObject(metadata) ? metadata['session_id'] : undefined
  const named = typeof user === 'string' ? user : null
  return { client, session: named, agent: null, parent: null }
}

export function purposeOf(facts: RequestFacts, { client }: Identity): Purpose {
  const { headers, fields, last, lastRead, items } = facts
  if (last?.['type'] === 'compaction_trigger') return 'compaction-item'
  const turn = turnMetadata(headers['x-codex-turn-metadata'])
  if (turn['request_kind'] === 'compaction') return 'compaction'
  if (turn['thread_source'] === 'thread_title') return 'side'
  const { tools } = fields
  const hasToolsItem = items.some(({ rank }) => rank === TOOLS_RANK)
  const hasTools = hasToolsItem || (isArray(tools) && tools.length > 0)
  // Every recorded request of these clients that belongs to a conversation has tools.
  if (!hasTools && KNOWN.has(client)) return 'side'
  const words = lastRead?.units.at(-1)
  if (client === 'claude' && words?.kind === 'text' && words.text.startsWith(CLAUDE_COMPACTION)) {
    return 'compaction'
  }
  return 'conversation'
}

const KNOWN = new Set(['claude', 'codex', 'opencode', 'pi'])

function turnMetadata(text: string | undefined): JsonObject {
  if (text === undefined) return {}
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}
