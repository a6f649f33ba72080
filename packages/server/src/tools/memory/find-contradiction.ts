import { entryNumber, type SessionId } from '#core/base/ids'
import { isObject, type JsonValue } from '#core/base/json'
import type { AssistantMessage, AssistantPart } from '#core/message/message'
import { textOf } from '#core/message/text'
import type { Reads } from '#core/store/contract'
import type { Entry } from '#core/store/tables/rows'
import { entryText } from '../entry-text.ts'
import type { ToolCall } from '../tool.ts'
import { findClaim, mentions } from './claims.ts'
import { readTurnStart } from './turn-start.ts'

const HITS_READ = 20

/** An entry of an earlier turn that contains the thing that a note claims to be missing. */
export async function findContradiction(
  store: Pick<Reads, 'search' | 'readEntries'>,
  call: Omit<ToolCall, 'input'>,
  text: string,
): Promise<Entry | null> {
  const claim = findClaim(text)
  if (claim === null) return null
  const { words, isIdle } = claim
  const { sessionId } = call
  const asked = { sessionId, text: words.join(' '), limit: HITS_READ, neighbours: 0 }
  const { hits } = words.length === 0 ? { hits: [] } : await store.search(asked)
  // A question names its subject, so the question of this turn proves nothing.
  const turnStart = await readTurnStart(store, call)
  for (const { entry } of hits) {
    if (entry.number >= turnStart || entry.body === null) continue
    if (mentions(words, await readEvidence(store, sessionId, entry))) return entry
  }
  return isIdle ? await findWork(store, { ...call, turnStart }) : null
}

/** The newest message of an earlier turn refutes a claim that nothing came. */
async function findWork(
  store: Pick<Reads, 'readEntries'>,
  { sessionId, turnStart }: { readonly sessionId: SessionId; readonly turnStart: number },
): Promise<Entry | null> {
  if (turnStart <= 1) return null
  const from = entryNumber(Math.max(1, turnStart - CALL_DISTANCE_MAX))
  const before = await store.readEntries({ sessionId, from, to: entryNumber(turnStart - 1) })
  return before.findLast(({ kind, body }) => kind === 'input' && body !== null) ?? null
}

const LOOKUPS: readonly string[] = ['recall', 'memory']
const CALL_DISTANCE_MAX = 64

/** The statements of an entry: neither a denial nor a search for a thing is a trace of it. */
async function readEvidence(
  store: Pick<Reads, 'readEntries'>,
  sessionId: SessionId,
  entry: Entry,
): Promise<string> {
  if (entry.kind === 'assistant') {
    const parts = partsOf(entry).filter(
      (part) => !(part.type === 'tool-call' && LOOKUPS.includes(part.name)),
    )
    const said = parts.map(textOf).filter((text) => findClaim(text) === null)
    return said.join('\n')
  }
  if (entry.kind !== 'result') return entryText(entry)
  const { call } = entry.meta
  const from = entryNumber(Math.max(1, entry.number - CALL_DISTANCE_MAX))
  const before = await store.readEntries({ sessionId, from, to: entry.number })
  const caller = before.findLast(
    (each) => each.kind === 'assistant' && each.meta.calls.includes(call),
  )
  const isLookup =
    caller !== undefined &&
    partsOf(caller).some(
      (part) => part.type === 'tool-call' && part.id === call && LOOKUPS.includes(part.name),
    )
  return isLookup ? '' : entryText(entry)
}

function partsOf({ body }: Entry): readonly AssistantPart[] {
  const message = body === null ? null : (JSON.parse(body) as JsonValue)
  return isObject(message) ? (message as unknown as AssistantMessage).parts : []
}
