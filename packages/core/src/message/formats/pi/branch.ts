import type { JsonObject } from '../../../base/json.ts'
import { isObject } from '../../../base/json.ts'

/**
 * The entries of a pi session that the model would be given now: the path from the last entry to
 * the root (older files have no tree and are one branch), starting with the newest compaction's
 * summary, then the entries that it kept, then the entries after it.
 */
export function activeEntries(lines: readonly JsonObject[]): readonly JsonObject[] {
  const branch = branchOf(lines)
  const at = branch.findLastIndex((entry) => entry['type'] === 'compaction')
  const compaction = branch[at]
  if (compaction === undefined) return branch
  const kept = Math.min(at, firstKept(compaction, branch, lines))
  const systems = branch.slice(0, kept).filter(isSystemEntry)
  // The newest compaction's summary covers any older compaction among the kept entries.
  const before = branch.slice(kept, at).filter((entry) => entry['type'] !== 'compaction')
  return [
    ...systems,
    ...before.filter(isSystemEntry),
    compaction,
    ...before.filter((entry) => !isSystemEntry(entry)),
    ...branch.slice(at + 1),
  ]
}

function branchOf(lines: readonly JsonObject[]): readonly JsonObject[] {
  const entries = lines.filter((line) => line['type'] !== 'session')
  if (!entries.some((entry) => 'parentId' in entry && 'id' in entry)) return entries
  const byId = new Map<unknown, JsonObject>()
  for (const entry of entries) if (typeof entry['id'] === 'string') byId.set(entry['id'], entry)
  const branch = new Set<JsonObject>()
  let entry = entries.findLast(({ id }) => typeof id === 'string')
  while (entry !== undefined && !branch.has(entry)) {
    branch.add(entry)
    entry = byId.get(entry['parentId'])
  }
  return [...branch].reverse()
}

/** By id in files with a tree; in older ones by line number, the session's line being 0. */
function firstKept(
  compaction: JsonObject,
  branch: readonly JsonObject[],
  lines: readonly JsonObject[],
): number {
  const { firstKeptEntryId: id, firstKeptEntryIndex: index } = compaction
  const entry =
    typeof id === 'string'
      ? branch.find((each) => each['id'] === id)
      : lines[typeof index === 'number' ? index : -1]
  const at = entry === undefined ? -1 : branch.indexOf(entry)
  return at === -1 ? branch.length : at
}

/** pi stores no system prompt; the codec writes one as a `system` message so it is not lost. */
function isSystemEntry(entry: JsonObject): boolean {
  return isObject(entry['message']) && entry['message']['role'] === 'system'
}
