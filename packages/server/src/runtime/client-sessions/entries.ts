import { isArray, isObject, type JsonValue } from '#core/base/json'
import type { Handoff } from '#core/message/handoff/handoff'
import type { AssistantMessage, Message, ResultPart, UserMessage } from '#core/message/message'
import type { AdoptedEntry } from '#core/store/adoption'
import type { Entry } from '#core/store/tables/rows'
import { messageCounter } from '#core/tokens/count'
import { type PlannedEntry, unitsOf } from '../../proxy/entry-plan.ts'
import { hashUnit } from '../../proxy/unit.ts'
import type { Boundary, UnitTree } from '../../proxy/unit-tree.ts'
import { handoffText } from './handoff-text.ts'

/** Converts between a client's messages and the entries of a transcript. */
const count = messageCounter('generic')

export function adoptedEntry(
  { message }: PlannedEntry,
  at: number,
  blobs: readonly string[],
): AdoptedEntry {
  const base = { row: null, at, tokens: count(message) }
  switch (message.role) {
    case 'assistant': {
      const ids = message.parts.flatMap((part) => (part.type === 'tool-call' ? [part.id] : []))
      const body = message as unknown as JsonValue
      return { ...base, kind: 'assistant', calls: [...new Set(ids)], body }
    }
    case 'tool': {
      const [part] = message.parts
      const outcome = part?.isError ? 'error' : 'ok'
      const body = (part?.output ?? []) as unknown as JsonValue
      return { ...base, kind: 'result', call: part?.callId ?? '', outcome, body, blobs }
    }
    default:
      return {
        ...{ ...base, kind: 'input', lane: message.synthetic ? 'notification' : 'user', blobs },
        body: { message } as unknown as JsonValue,
      }
  }
}

/** Adds one entry of the transcript to the tree. */
export function addToTree(tree: UnitTree, entry: Entry): void {
  switch (entry.kind) {
    case 'input':
    case 'assistant':
    case 'result': {
      const message = messageOf(entry)
      // The text was erased, so there is nothing to compare.
      const hashes = message === null ? [`erased ${entry.number}`] : unitsOf(message).map(hashUnit)
      tree.add(entry.number, hashes)
      return
    }
    case 'revert':
      if (entry.meta.to === undefined) tree.undo(entry.number, entry.meta.target)
      else tree.rewind(entry.number, entry.meta.to)
      return
    case 'compaction': {
      const boundary = boundaryOf(entry)
      if (boundary === null) tree.add(entry.number, [])
      else tree.cover(entry.meta.covers, boundary)
      return
    }
    case 'erasure':
      // A handoff that repeated the erased text is never sent again.
      for (const erased of entry.meta.entries) tree.uncover(erased)
      tree.add(entry.number, [])
      return
    default:
      tree.add(entry.number, [])
  }
}

function messageOf(entry: Entry): Message | null {
  if (entry.body === null) return null
  const body = JSON.parse(entry.body) as JsonValue
  if (entry.kind === 'input' && isObject(body)) {
    return { ...(body['message'] as unknown as UserMessage), role: 'user' }
  }
  if (entry.kind === 'assistant' && isObject(body)) {
    return { ...(body as unknown as AssistantMessage), role: 'assistant' }
  }
  if (entry.kind !== 'result' || !isArray(body)) return null
  const output = body as unknown as readonly ResultPart[]
  return { role: 'tool', parts: [{ type: 'tool-result', callId: entry.meta.call, output }] }
}

/** The entry contains, byte for byte, what was sent in place of the covered part. */
export function boundaryOf(entry: Entry): Boundary | null {
  if (entry.body === null) return null
  const body = JSON.parse(entry.body) as JsonValue
  const sent = isObject(body) ? body['sent'] : undefined
  if (!isObject(sent)) return null
  const { wire, items, token } = sent as { [name: string]: JsonValue | undefined }
  if (typeof wire !== 'string' || typeof items !== 'string') return null
  const text = handoffText(body as unknown as Handoff)
  return { entry: entry.number, wire, items, text, ...(typeof token === 'string' && { token }) }
}
