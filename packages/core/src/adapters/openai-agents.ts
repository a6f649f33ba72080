/** `@throughline/core/adapters/openai-agents`: a `Session` of `@openai/agents` (0.20) in a journal. */
import type {
  AgentInputItem,
  OpenAIResponsesCompactionAwareSession,
  SessionHistoryTransactionArgs,
  SessionHistoryTransactionAwareSession,
} from '@openai/agents'
import type { CompactMessagesOptions } from '../agent/compact-messages.ts'
import type { DurableJournal, ListChange } from '../agent/journal.ts'
import { type OpenAIResponses, openaiResponses } from '../agent/typed-formats/openai.ts'
import type { JsonValue } from '../base/json.ts'
import { ThroughlineError } from '../base/throughline-error.ts'
import { compactKeeping } from './compact-keeping.ts'

export type AgentsSession = SessionHistoryTransactionAwareSession &
  OpenAIResponsesCompactionAwareSession

/**
 * For `run(agent, text, { session })`: items are durable when a call resolves, a history transaction is
 * atomic and happens once, and with `compact` a long history is compacted behind a turn.
 *
 * ```ts
 * const session = agentsSession(journal, userId, { compact: { contextWindow: 128_000 } })
 * const result = await run(agent, text, { session })
 * ```
 */
export function agentsSession(
  journal: DurableJournal,
  id: string,
  { compact }: { readonly compact?: CompactMessagesOptions } = {},
): AgentsSession {
  const list = journal.list(id, 'items')
  const change = async (wanted: ListChange) => {
    const outcome = await list.change(wanted)
    if (outcome === 'changed') return
    const problem =
      outcome === 'operation-conflict'
        ? `The operation "${wanted.operation}" was used before for another change of the session "${id}".`
        : `The history of the session "${id}" does not end as expected.`
    throw new ThroughlineError(outcome, `${problem} Nothing changed.`, {
      at: 'applyHistoryTransaction',
    })
  }
  const read = async () => (await list.read()) as unknown as readonly AgentInputItem[]
  return {
    getSessionId: async () => id,
    async getItems(limit) {
      const items = await read()
      return structuredClone(limit === undefined ? [...items] : items.slice(-limit))
    },
    addItems: (items) => change({ add: plain(items) }),
    async popItem() {
      for (;;) {
        const last = (await list.read()).at(-1)
        if (last === undefined) return undefined
        const outcome = await list.change({ expects: [last], add: [] })
        if (outcome === 'changed') return structuredClone(last) as unknown as AgentInputItem
      }
    },
    clearSession: () => change({ clear: true, add: [] }),
    applyHistoryTransaction: ({ operationId, transaction }: SessionHistoryTransactionArgs) =>
      change(
        transaction.type === 'append_items'
          ? { operation: operationId, add: plain(transaction.items) }
          : {
              operation: operationId,
              expects: plain(transaction.expectedSuffix),
              add: plain(transaction.replacement),
            },
      ),
    async runCompaction({ force = false } = {}) {
      if (compact === undefined) return null
      const items = await read()
      const smaller = await compactKeeping(openaiResponses, items, {
        ...{ write: writeItem, read: readItem },
        options: force ? { ...compact, when: 'always' } : compact,
      })
      if (smaller === null) return null
      // Items that came meanwhile stay: then this compaction is one of an old history, and is left out.
      await list.change({ expects: plain(items), add: plain(smaller) })
      return null
    },
  }
}

function plain(items: readonly AgentInputItem[]): readonly JsonValue[] {
  return JSON.parse(JSON.stringify(items)) as readonly JsonValue[]
}

type Item = OpenAIResponses['message']

/** An item as the Responses API writes it; the SDK's own differs in its names alone. */
function writeItem(item: AgentInputItem): Item {
  // The codec knows no status of a message, and no data of a provider beside it.
  const { type, providerData: _data, status: _status, ...fields } = item as ItemFields
  const { callId, output, ...rest } = fields as { callId?: string; output?: unknown }
  if (type === 'function_call') return { ...rest, type, call_id: callId } as unknown as Item
  if (type === 'function_call_result') {
    const text = typeof output === 'string' ? output : textOf(output)
    return { type: 'function_call_output', call_id: callId ?? '', output: text }
  }
  return { type: type ?? 'message', ...fields } as unknown as Item
}

interface ItemFields {
  readonly type?: string
  readonly providerData?: unknown
  readonly status?: unknown
}

function textOf(output: unknown): string {
  const { text } = (output ?? {}) as { readonly text?: unknown }
  return typeof text === 'string' ? text : JSON.stringify(output)
}

/** Only what a compaction writes itself comes back: the handoff, and results that it shortened. */
function readItem(item: Item): AgentInputItem {
  if (item.type === 'function_call_output') {
    const { call_id, output } = item
    return {
      ...{ type: 'function_call_result', callId: call_id, name: 'tool', status: 'completed' },
      output: { type: 'text', text: typeof output === 'string' ? output : JSON.stringify(output) },
    } as AgentInputItem
  }
  const { role, content } = item as { readonly role?: string; readonly content?: unknown }
  return { type: 'message', role: role ?? 'user', content } as AgentInputItem
}
