import type { JsonObject } from '../../../base/json.ts'
import { isObject } from '../../../base/json.ts'

/**
 * Which entries of a pi session the model would be given now: those on the way from the last entry
 * to the root (older files have no tree and are one branch), and of these, behind the newest
 * compaction, its summary, then what it kept, then what came after.
 */
export function activeEntries(lines: readonly JsonObject[]): readonly JsonObject[] {
  const branch = branchOf(lines)
  const at = branch.findLastIndex((entry) => entry['type'] === 'compaction')
  const compaction = branch[at]
  if (compaction === undefined) return branch
  const kept = Math.min(at, firstKept(compaction, branch, lines))
  const systems = branch.slice(0, kept).filter(isSystemEntry)
  // Older compactions among what was kept are summarised by the newest one.
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

/** By id since the files have trees; before, by the number of the line, the session's being 0. */
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

/** pi keeps no system prompt in its files; the codec writes one that must not be lost as a message. */
function isSystemEntry(entry: JsonObject): boolean {
  return isObject(entry['message']) && entry['message']['role'] === 'system'
}
