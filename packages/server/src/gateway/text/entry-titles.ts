import { isObject, type JsonObject } from '#core/base/json'
import { clip, oneLine } from '#core/base/line'
import { NOTES_PIN } from '#core/message/handoff/pinned'
import type { TranscriptEntry } from '../../runtime/runtime.ts'

/** What an entry did to the context, in the words of `show` and of the exports for people. */

export function compactionTitle({ meta }: TranscriptEntry): string {
  if (factOf(meta, 'by') === 'clearing') {
    const upto = 'clears' in meta ? meta.clears?.upto : undefined
    return `compaction: tool results up to #${upto ?? 0} cleared, nothing is summarized`
  }
  const by = factOf(meta, 'by')
  return `compaction: a handoff replaces entries 1 to ${factOf(meta, 'covers')}, written by ${WRITERS[by] ?? by}`
}

/** As the page says it. */
const WRITERS: Readonly<Record<string, string>> = {
  model: 'a model',
  digest: 'the built-in digest (no model)',
  rewrite: 'a model, replacing a digest',
}

export function revertTitle({ meta, body }: TranscriptEntry): string {
  if (!('to' in meta)) return `compaction #${factOf(meta, 'target')} undone`
  if (!isObject(body)) return `rewound: the conversation continues from #${factOf(meta, 'to')}`
  return body['by'] === 'leave'
    ? 'the client continues from the handoff that `leave` wrote'
    : 'the client compacted the conversation itself and continues from its summary'
}

export function pinTitle({ meta }: TranscriptEntry): string {
  const name = factOf(meta, 'name')
  const title = name === NOTES_PIN ? 'notes that the agent sees' : `pin ${name}`
  return isRemoved(meta) ? `${title} removed` : title
}

export function isRemoved(meta: TranscriptEntry['meta']): boolean {
  return factOf(meta, 'change') === 'removed'
}

/** Names come from models and imported files: a line break in one could imitate an entry. */
export function factOf(meta: TranscriptEntry['meta'] | JsonObject, key: string): string {
  const value = (meta as JsonObject)[key]
  return clip(oneLine(Array.isArray(value) ? value.join(', ') : String(value ?? '')))
}
