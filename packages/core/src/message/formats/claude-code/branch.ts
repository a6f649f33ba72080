import { isObject, type JsonObject } from '../../../base/json.ts'
import { asList, textField } from '../origin.ts'

/**
 * The lines of a Claude Code file that the model would be given now. Lines form a tree by
 * `parentUuid`; the active branch ends at the newest line, starts at the newest compaction, and
 * leaves out side chains (sub-agents). Three cases in real files need care. A parent may be missing
 * (progress lines are often left out): then the preceding line is the parent. Parallel tool calls
 * fork: each call is a line and the results have different parents, so replies and results off the
 * branch that belong to its calls are added. And a compaction may keep the newest lines before it,
 * which the model is given after the summary.
 */
export function activeLines(lines: readonly JsonObject[]): readonly JsonObject[] {
  const main = lines.filter((line) => line['isSidechain'] !== true)
  const nodes = main.filter((line) => typeof line['uuid'] === 'string')
  if (nodes.length === 0) return main.filter(isSpoken)
  const chosen = walkBack(nodes)
  addParallel(nodes, chosen)
  const prompts = main.filter(isSystemPrompt)
  const spoken = nodes.filter((line) => chosen.has(line) && isSpoken(line))
  const said = spoken.filter((line) => !isSystemPrompt(line))
  const summary = said.findIndex((line) => line['isCompactSummary'] === true)
  const kept = preservedLines(nodes, chosen)
  return [...prompts, ...said.slice(0, summary + 1), ...kept, ...said.slice(summary + 1)]
}

/** The ids of the lines that a compaction keeps; empty if it lists none. */
export function preservedIds(boundary: JsonObject | undefined): ReadonlySet<unknown> {
  const metadata = boundary?.['compactMetadata']
  const preserved = isObject(metadata) ? metadata['preservedMessages'] : undefined
  return new Set(isObject(preserved) ? asList(preserved['uuids']) : [])
}

/** The lines before the compaction that it lists as kept. */
function preservedLines(
  nodes: readonly JsonObject[],
  chosen: ReadonlySet<JsonObject>,
): readonly JsonObject[] {
  const parents = new Set<unknown>()
  for (const line of chosen) parents.add(line['parentUuid'])
  const boundary = nodes.findLast(
    (line) =>
      line['subtype'] === 'compact_boundary' && (chosen.has(line) || parents.has(line['uuid'])),
  )
  const uuids = preservedIds(boundary)
  if (uuids.size === 0) return []
  return nodes.filter(
    (line) => uuids.has(line['uuid'] ?? null) && !chosen.has(line) && isSpoken(line),
  )
}

function walkBack(nodes: readonly JsonObject[]): Set<JsonObject> {
  const positions = new Map<unknown, number>()
  for (const [index, line] of nodes.entries()) positions.set(line['uuid'], index)
  const chosen = new Set<JsonObject>()
  let at = nodes.length - 1
  for (;;) {
    const line = nodes[at]
    if (line === undefined) return chosen
    chosen.add(line)
    if (startsAfresh(line)) return chosen
    const parent = line['parentUuid'] ?? line['logicalParentUuid']
    // Lines are appended, so a parent precedes its children; a later parent is ignored.
    const position = positions.get(parent) ?? at
    at = typeof parent !== 'string' ? -1 : position < at ? position : at - 1
  }
}

/** A compaction: its summary covers everything before it. */
function startsAfresh(line: JsonObject): boolean {
  if (line['type'] === 'user') return line['isCompactSummary'] === true
  return line['subtype'] === 'compact_boundary'
}

function addParallel(nodes: readonly JsonObject[], chosen: Set<JsonObject>): void {
  const first = nodes.findIndex((line) => chosen.has(line))
  const later = nodes.slice(first)
  const replies = new Set<string>()
  for (const line of chosen) {
    const id = replyId(line)
    if (id !== undefined) replies.add(id)
  }
  for (const line of later) if (replies.has(replyId(line) ?? '')) chosen.add(line)

  const open = new Set<string>()
  for (const line of chosen) for (const id of idsOf(line, 'tool_use', 'id')) open.add(id)
  for (const line of chosen)
    for (const id of idsOf(line, 'tool_result', 'tool_use_id')) open.delete(id)
  for (const line of later) {
    if (chosen.has(line)) continue
    if (idsOf(line, 'tool_result', 'tool_use_id').some((id) => open.delete(id))) chosen.add(line)
  }
}

/** The id that the lines of one reply share. */
export function replyId(line: JsonObject): string | undefined {
  const { message } = line
  if (line['type'] !== 'assistant' || !isObject(message)) return undefined
  return textField(message, 'id')
}

function idsOf(line: JsonObject, type: string, key: string): readonly string[] {
  const content = isObject(line['message']) ? line['message']['content'] : undefined
  return asList(content).flatMap((block) => {
    const id = isObject(block) && block['type'] === type ? block[key] : undefined
    return typeof id === 'string' ? [id] : []
  })
}

function isSpoken(line: JsonObject): boolean {
  if (isSystemPrompt(line)) return true
  const isReply = line['type'] === 'assistant' && line['isApiErrorMessage'] !== true
  return (line['type'] === 'user' || isReply) && isObject(line['message'])
}

/** Claude Code stores no system prompt; the codec writes one as a marked line so it is not lost. */
export function isSystemPrompt(line: JsonObject): boolean {
  return line['type'] === 'system' && line['subtype'] === 'system_prompt'
}

/**
 * A message that a person sends during a turn is stored as an attachment, usually without a line of
 * its own; it is read as a user line. Other attachments are notes of the program.
 */
export function withQueuedPrompts(lines: readonly JsonObject[]): readonly JsonObject[] {
  const uuids = new Set(lines.map((line) => line['uuid']))
  return lines.map((line) => {
    const { type, attachment, rendered: _, renderedRole: __, ...rest } = line
    if (type !== 'attachment' || !isObject(attachment)) return line
    const { type: kind, prompt, commandMode, origin, isMeta, source_uuid: source } = attachment
    if (kind !== 'queued_command' || prompt === undefined || prompt === null) return line
    if (typeof source === 'string' && uuids.has(source)) return line
    const sender = isObject(origin) ? (origin['kind'] ?? 'human') : 'human'
    const isOwn = sender === 'human' && (commandMode ?? 'prompt') === 'prompt' && isMeta !== true
    const message = { role: 'user', content: prompt }
    return { ...rest, ...(!isOwn && { isMeta: true }), type: 'user', message }
  })
}
