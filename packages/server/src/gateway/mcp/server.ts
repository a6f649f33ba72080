import { randomUUID } from 'node:crypto'
import { McpServer } from '@modelcontextprotocol/server'
import type { z } from 'zod'
import { KnownError } from '#core/base/errors'
import { sessionId } from '#core/base/ids'
import { splitsCharacter } from '#core/base/line'
import { textOf } from '#core/message/text'
import type {
  FoundEntries,
  Runtime,
  SearchRequest,
  Session,
  TranscriptEntry,
} from '../../runtime/runtime.ts'
import type { ForeignHistory } from '../../runtime/sessions/foreign-history.ts'
import { refusalReason } from '../../runtime/sessions/refusal-text.ts'
import { filtersOf } from '../../tools/search-filters.ts'
import {
  appendInput,
  appendOutput,
  compactInput,
  compactOutput,
  type mcpEntry,
  recallInput,
  recallOutput,
  searchInput,
  searchOutput,
  statusInput,
  statusOutput,
} from './answers.ts'

/**
 * Recall for agents that run elsewhere: they append messages, and find them long after their own
 * context has dropped them. It offers five tools, which refuse invalid input; accepted messages are
 * durable when a tool answers. The tools reach the sessions of one agent, or some of them; any
 * other session looks as if it did not exist.
 */
export interface McpServerParts {
  readonly runtime: Runtime
  readonly history: ForeignHistory
  /** The agent whose sessions are created and used here, and the window of its model. */
  readonly agent: string
  /** Only these sessions; null: all of the agent. */
  readonly sessions: ReadonlySet<string> | null
  readonly windowTokens: number
  readonly version: string
}

const SOURCE = 'mcp'
const MATCH_CHARACTERS = 1_000
const NEIGHBOUR_CHARACTERS = 300
const RECALL_CHARACTERS_MAX = 20_000
const NEWEST = 20
const ENTRIES_MAX = 200
const COMPACTIONS_READ = 10

export function buildMcpServer(parts: McpServerParts): McpServer {
  const { version } = parts
  const server = new McpServer(
    { name: 'throughline', version },
    {
      instructions:
        'Keeps the whole history of your conversations. Append what is said as you go; search and ' +
        'recall it when you no longer see it, before you say that you do not know.',
    },
  )
  server.registerTool(
    'session_append',
    {
      description: 'Adds messages to a session. Each key counts once, however often it is sent.',
      inputSchema: appendInput,
      outputSchema: appendOutput,
      annotations: { idempotentHint: true, destructiveHint: false },
    },
    (input) => answered(() => append(parts, input)),
  )
  server.registerTool(
    'session_search',
    {
      description: 'Finds what was said, in one session or in all, also what was compacted away.',
      inputSchema: searchInput,
      outputSchema: searchOutput,
      annotations: { readOnlyHint: true },
    },
    (input) => answered(() => search(parts, input)),
  )
  server.registerTool(
    'session_recall',
    {
      description: 'Reads entries of a session word for word, by their numbers.',
      inputSchema: recallInput,
      outputSchema: recallOutput,
      annotations: { readOnlyHint: true },
    },
    (input) => answered(() => recall(parts, input)),
  )
  server.registerTool(
    'context_status',
    {
      description: 'How full the context of a session is, and the summary in effect.',
      inputSchema: statusInput,
      outputSchema: statusOutput,
      annotations: { readOnlyHint: true },
    },
    (input) => answered(() => status(parts, input)),
  )
  server.registerTool(
    'compact_now',
    {
      description: 'Has a session compacted by the process that serves it, and waits for that.',
      inputSchema: compactInput,
      outputSchema: compactOutput,
      annotations: { destructiveHint: false },
    },
    (input, { mcpReq }) => answered(() => compact(parts, input, mcpReq.signal)),
  )
  return server
}

/** Expected failures become a readable answer; everything else is reported. */
async function answered<Output extends object>(run: () => Promise<Output>) {
  try {
    const output = await run()
    return {
      content: [{ type: 'text' as const, text: JSON.stringify(output) }],
      structuredContent: output as Output & { [key: string]: unknown },
    }
  } catch (error) {
    if (!(error instanceof KnownError)) throw error
    return { content: [{ type: 'text' as const, text: error.message }], isError: true }
  }
}

class UnknownSessionNameError extends KnownError {
  override readonly name = 'UnknownSessionNameError'
  readonly code = 'unknown-session'
  readonly retryable = false
}

async function append(
  { runtime, history, agent, sessions, windowTokens }: McpServerParts,
  { session, messages }: z.output<typeof appendInput>,
): Promise<z.output<typeof appendOutput>> {
  if (sessions !== null && !sessions.has(session)) throw unknown(session)
  const id = sessionId(session)
  const answers: z.output<typeof appendOutput>['messages'] = []
  for (const { key, role, text, at } of messages) {
    const outcome = await history.append(
      { sessionId: id, agent, windowTokens },
      { key, role, text, ...(at !== undefined && { at: Date.parse(at) }) },
    )
    const answer =
      outcome.kind === 'runs-here'
        ? await admit(runtime.session(id), { key, role, text })
        : {
            outcome: outcome.kind,
            entry: 'entry' in outcome ? outcome.entry : null,
            mail: null,
            note: APPEND_NOTES[outcome.kind] ?? null,
          }
    answers.push({ key, ...answer })
    // Later messages must not come before one that was not accepted.
    if (answer.outcome === 'busy' || answer.outcome === 'gone') break
  }
  return { session, messages: answers }
}

const APPEND_NOTES: { readonly [outcome: string]: string } = {
  conflict: 'This key was used before, with another text or in another session; nothing changed.',
  busy: 'Another process is using the session; send this message and the following ones again.',
  gone: 'The session was purged; its id is never used again.',
  refused: 'This id cannot be used here; choose another.',
}

/** Whether a Throughline agent answers in this session, so that a message would start a turn. */
async function admit(
  session: Session,
  { key, role, text }: { readonly key: string; readonly role: string; readonly text: string },
) {
  const refused = (note: string) => ({ outcome: 'refused' as const, entry: null, mail: null, note })
  if (role !== 'user')
    return refused('An agent runs this session; only user messages are accepted.')
  const admission = await session.admit({ source: SOURCE, key, parts: [{ type: 'text', text }] })
  switch (admission.kind) {
    case 'admitted':
    case 'duplicate': {
      const outcome = admission.kind === 'admitted' ? ('appended' as const) : admission.kind
      const note = 'An agent runs this session and will answer it.'
      return { outcome, entry: null, mail: admission.mail, note }
    }
    case 'conflict':
      return { outcome: 'conflict' as const, entry: null, mail: null, note: conflictNote }
    default:
      return refused(`The message was not accepted: ${admission.kind}.`)
  }
}

const conflictNote = APPEND_NOTES['conflict'] ?? null

async function search(
  parts: McpServerParts,
  { text, session, limit, neighbours, ...filters }: z.output<typeof searchInput>,
): Promise<z.output<typeof searchOutput>> {
  const query = { text, limit, ...filtersOf(filters) }
  const { found, total, note } =
    session === undefined
      ? await searchAll(parts, query)
      : await (await known(parts, session)).search({ ...query, neighbours })
  return {
    found: found.map(({ sessionId: id, excerpt, entry, before, after }) => ({
      ...{ session: id, excerpt },
      match: viewOf(entry, MATCH_CHARACTERS),
      before: before.map((near) => viewOf(near, NEIGHBOUR_CHARACTERS)),
      after: after.map((near) => viewOf(near, NEIGHBOUR_CHARACTERS)),
    })),
    total,
    ...(note !== undefined && { note }),
  }
}

async function searchAll(parts: McpServerParts, query: SearchRequest): Promise<FoundEntries> {
  const { runtime, agent, sessions } = parts
  if (sessions === null) return await runtime.search({ ...query, agent })
  return await runtime.search({ ...query, agent, sessionIds: [...sessions].map(sessionId) })
}

async function recall(
  parts: McpServerParts,
  input: z.output<typeof recallInput>,
): Promise<z.output<typeof recallOutput>> {
  const handle = await known(parts, input.session)
  const { entries: newest = 0 } = (await handle.summary()) ?? {}
  const from = input.from ?? Math.max(1, newest - NEWEST + 1)
  const to = Math.min(input.to ?? newest, newest, from + ENTRIES_MAX - 1)
  const entries = to < from ? [] : ((await handle.transcript({ from, to })) ?? [])
  const views: z.output<typeof mcpEntry>[] = []
  let left = RECALL_CHARACTERS_MAX
  let next: { from: number; offset: number } | null = null
  for (const [index, entry] of entries.entries()) {
    const offset = index === 0 ? input.offset : 0
    if (left <= 0) {
      next = { from: entry.number, offset: 0 }
      break
    }
    const piece = viewOf(entry, left, offset)
    views.push(piece)
    left -= piece.text.length
    if (piece.clippedCharacters === 0) continue
    next = { from: entry.number, offset: offset + piece.text.length }
    break
  }
  const last = entries.at(-1)?.number ?? to
  const wanted = Math.min(input.to ?? newest, newest)
  if (next === null && last < wanted) next = { from: last + 1, offset: 0 }
  return { session: input.session, entries: views, newest, next }
}

async function status(
  parts: McpServerParts,
  { session }: z.output<typeof statusInput>,
): Promise<z.output<typeof statusOutput>> {
  const handle = await known(parts, session)
  const summary = await handle.summary()
  const context = await handle.context({})
  if (summary === undefined || context === undefined) throw unknown(session)
  const { agent, title, state, entries, waiting, windowTokens, isCompacting, compaction } = summary
  const handoff = context.parts.filter((part) => part.kind === 'summary')
  return {
    ...{ session, agent, title, state, entries, waiting, windowTokens, isCompacting },
    contextTokens: context.tokens,
    usedShare: Math.round((1_000 * context.tokens) / windowTokens) / 1_000,
    compactionDueAtTokens: Math.floor(context.softTokens ?? context.hardTokens),
    compaction:
      compaction === null
        ? null
        : {
            entry: compaction,
            covers: handoff[0]?.origin.to ?? 0,
            summary: handoff.map((part) => part.text).join('\n'),
          },
    isServed: await isServed(parts.runtime),
  }
}

async function compact(
  parts: McpServerParts,
  { session, key = randomUUID(), focus, waitSeconds }: z.output<typeof compactInput>,
  signal: AbortSignal,
): Promise<z.output<typeof compactOutput>> {
  const handle = await known(parts, session)
  const request = { source: SOURCE, key, ...(focus !== undefined && { focus }) }
  const admission = await handle.compact(request)
  if (admission.kind !== 'admitted' && admission.kind !== 'duplicate') throw unknown(session)
  const served = await isServed(parts.runtime)
  const waited = AbortSignal.any([signal, AbortSignal.timeout(waitSeconds * 1_000)])
  const end = served ? await handle.controlOutcome(admission.mail, waited) : null
  const none = { covers: null, tokensBefore: null, tokensAfter: null }
  if (end === null && served && !waited.aborted) {
    const note = 'Not compacted: the request was withdrawn.'
    return { session, outcome: 'failed', isServed: served, ...none, note }
  }
  if (end === null) {
    const note = served
      ? `Requested, but not done within ${waitSeconds} s. It continues in the background.`
      : 'Requested. No process serves this store now; it will be done once `throughline serve` runs with ' +
        'an agent of this name.'
    return { session, outcome: 'asked', isServed: served, ...none, note }
  }
  if (end.kind === 'turned-down') {
    const outcome = end.why === 'nothing-to-compact' ? end.why : 'failed'
    const note = `Not compacted: ${refusalReason(end)}.`
    return { session, outcome, isServed: served, ...none, note }
  }
  const newest = await handle.compactions({ limit: COMPACTIONS_READ })
  const committed = newest?.find(({ state }) => state === 'committed')
  const { covers, tokensBefore, tokensAfter } = committed ?? none
  const note = covers === null ? 'Compacted.' : `A handoff replaces entries 1 to ${covers}.`
  return {
    ...{ session, outcome: 'compacted', isServed: served, covers, tokensBefore, tokensAfter, note },
  }
}

async function isServed(runtime: Runtime): Promise<boolean> {
  const { runners } = await runtime.health()
  // A process that only appends history registers briefly, under a name of this form.
  return runners.some(({ id }) => !/^(?:mcp|import)-/.test(id))
}

async function known(parts: McpServerParts, name: string): Promise<Session> {
  const handle = await find(parts, name)
  if (handle === undefined) throw unknown(name)
  return handle
}

/** A session out of scope looks like one that does not exist. */
async function find(
  { runtime, agent, sessions }: McpServerParts,
  name: string,
): Promise<Session | undefined> {
  if (sessions !== null && !sessions.has(name)) return undefined
  const handle = runtime.session(sessionId(name))
  return (await handle.summary())?.agent === agent ? handle : undefined
}

function unknown(name: string): UnknownSessionNameError {
  return new UnknownSessionNameError(
    `There is no session ${name} here. session_append creates one with its first message.`,
  )
}

function viewOf(
  entry: TranscriptEntry,
  charactersMax: number,
  offset = 0,
): z.output<typeof mcpEntry> {
  const { number, kind, at, message, body, isCovered, meta } = entry
  const whole = message === null ? plain(body) : textOf(message)
  const start = splitsCharacter(whole, offset) ? offset - 1 : offset
  const cut = start + charactersMax
  const text = whole.slice(start, splitsCharacter(whole, cut) ? cut - 1 : cut)
  const isNotification = kind === 'input' && 'lane' in meta && meta.lane === 'notification'
  return {
    entry: number,
    role: isNotification ? 'notification' : (message?.role ?? kind),
    at: new Date(at).toISOString(),
    text,
    clippedCharacters: Math.max(0, whole.length - start - text.length),
    isCompacted: isCovered,
  }
}

function plain(body: TranscriptEntry['body']): string {
  if (body === null) return '[erased]'
  return typeof body === 'string' ? body : JSON.stringify(body)
}
