import { z } from 'zod'
import { entryNumber, type MailNumber, type SessionId } from '#core/base/ids'
import { clip, oneLine } from '#core/base/line'
import { NOTES_PIN, pinnedText } from '#core/message/handoff/pinned'
import type { AdmitOutcome } from '#core/store/commits'
import type { Commits, Reads } from '#core/store/contract'
import type { NoteRow } from '#core/store/operational-rows'
import type { Entry } from '#core/store/tables/rows'
import { defineTool, ok, type ParsedCall, refuse } from '../define-tool.ts'
import { entryLabel, entryText } from '../entry-text.ts'
import { admitControl, answerTo, type Counting, callScopedId } from '../own-mail.ts'
import { serializeCalls } from '../serialize-calls.ts'
import type { Tool, ToolAnswer, ToolCall } from '../tool.ts'
import { memoryBlock } from './block.ts'
import { findContradiction } from './find-contradiction.ts'
import { type NoteSharing, readNotes } from './visible.ts'

export { NOTES_PIN } from '#core/message/handoff/pinned'

/**
 * Short notes that an agent keeps across sessions, for the people it made them with: a session sees
 * the notes of its scope. Every context shows them as one bounded block, a pin of this name, with
 * the entry that each came from. The block changes only between turns, so that it stays constant
 * within a turn.
 */
export const MEMORY_TOOL = 'memory'

const input = z.strictObject({
  action: z.enum(['add', 'remove', 'list']),
  id: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/)
    .optional()
    .describe('The note to replace or remove.'),
  text: z.string().min(1).max(600).optional().describe('One fact, in a sentence or two.'),
})

type MemoryStore = Pick<
  Commits & Reads,
  | 'admit'
  | 'withdraw'
  | 'findSession'
  | 'putNote'
  | 'removeNote'
  | 'listNotes'
  | 'search'
  | 'readEntries'
>

export interface MemoryParts extends Counting, NoteSharing {
  readonly store: MemoryStore
  /** The size limit of the block in every context. */
  readonly tokensMax: number
}

export const MEMORY_TOKENS_MAX = 1_500

export function memoryTool(parts: MemoryParts): Tool {
  const afterOthers = serializeCalls()
  return defineTool({
    name: MEMORY_TOOL,
    description:
      'Keep short notes for yourself that outlast this session: preferences, decisions, ' +
      'facts about people and places. `add` writes one (with `id`: replaces it), `remove` takes one ' +
      'away. They are shown to you from your next turn on.',
    input,
    isRepeatable: true,
    run: (call) => afterOthers(() => run(parts, call)),
  })
}

async function run(parts: MemoryParts, call: ParsedCall<typeof input>): Promise<ToolAnswer> {
  const { store } = parts
  const { action, id, text } = call.input
  const session = await store.findSession(call.sessionId)
  if (session === undefined) return refuse(GONE)
  const notes = await readNotes(store, session, parts)
  if (action === 'list') return ok(memoryBlock(notes) ?? 'There are no notes.')
  if (action === 'remove') {
    if (id === undefined) return refuse('Give the `id` of the note to remove.')
    const named = notes.filter((note) => note.id === id)
    for (const note of named) await store.removeNote(note)
    if (named.length === 0) return refuse(`There is no note ${id}. Notes: ${idsOf(notes)}.`)
    return await show(parts, call, `The note ${id} is removed.`)
  }
  if (text === undefined) return refuse('Give the `text` of the note.')
  const kept = await keepNote(parts, call, { id: id ?? callScopedId('n', call), text })
  if (kept.kind === 'refused') return refuse(kept.why)
  return await show(parts, call, `Noted as ${kept.id}.`)
}

const GONE = 'This session was deleted.'

export type NoteOutcome =
  | { readonly kind: 'noted'; readonly id: string }
  | { readonly kind: 'refused'; readonly why: string }

/**
 * Stores a note unless it contradicts the transcript or does not fit. `refreshMemory` makes
 * sessions show it.
 */
export async function keepNote(
  { store, countTokens, tokensMax, isShared = false }: MemoryParts,
  call: Omit<ToolCall, 'input'>,
  { id, text }: { readonly id: string; readonly text: string },
): Promise<NoteOutcome> {
  const { agent, sessionId } = call
  const session = await store.findSession(sessionId)
  if (session === undefined) return { kind: 'refused', why: GONE }
  const { scope } = session
  const contrary = await findContradiction(store, call, text)
  if (contrary !== null) return { kind: 'refused', why: denial(contrary) }
  const notes = await readNotes(store, session, { isShared })
  const origin = { sessionId, number: entryNumber(call.entry) }
  const note = { agent, scope, id, text: oneLine(text), origin }
  const others = notes.filter((each) => each.id !== id)
  const tokens = countTokens(sessionId, memoryBlock([...others, note]) ?? '')
  if (tokens > tokensMax) {
    const why = `Does not fit: the notes would take ${tokens} of ${tokensMax} tokens. Remove or shorten one: ${idsOf(notes)}.`
    return { kind: 'refused', why }
  }
  const outcome = await store.putNote(note)
  if (outcome.kind === 'noted') {
    // If notes are shared, a note replaces one with the same id from another session.
    const replaced = notes.filter((each) => each.id === id && each.scope !== scope)
    for (const each of replaced) await store.removeNote(each)
    return { kind: 'noted', id }
  }
  if (outcome.kind === 'gone' || outcome.kind === 'unknown') return { kind: 'refused', why: GONE }
  const limit = outcome.kind === 'full' ? `${outcome.limit} notes` : `${outcome.limit} bytes`
  return { kind: 'refused', why: `The limit is ${limit}. Remove or shorten one: ${idsOf(notes)}.` }
}

/**
 * Brings a session's block up to date; the change waits in the mailbox while a turn runs. The
 * runtime calls it for a new session, and for the agent's other sessions before their next turn,
 * each time under a new key. Null: the session already shows the current notes.
 */
export async function refreshMemory(
  { store, countTokens, isShared = false }: Omit<MemoryParts, 'tokensMax'>,
  target: { readonly sessionId: SessionId; readonly agent: string; readonly key: string },
): Promise<AdmitOutcome | null> {
  const { sessionId, key } = target
  const session = await store.findSession(sessionId)
  if (session === undefined) return null
  const readBlock = async () => memoryBlock(await readNotes(store, session, { isShared }))
  let outcome: AdmitOutcome | null = null
  for (let round = 1; round <= ROUNDS_MAX; round++) {
    const text = await readBlock()
    if ((await readVisibleBlock(store, sessionId)) === text) return outcome
    outcome = await admitControl(
      store,
      { ...target, key: round === 1 ? key : `${key}-${round}` },
      {
        control: 'pin',
        body: { name: NOTES_PIN, text, when: 'between-turns' },
        tokens: text === null ? 0 : countTokens(sessionId, pinnedText(NOTES_PIN, text)),
      },
    )
    if (outcome.kind !== 'admitted' || text === null) return outcome
    // This would restore a note that was erased after it was read.
    const lines = new Set((await readBlock())?.split('\n'))
    if (text.split('\n').every((line) => lines.has(line))) return outcome
    await takeBack(store, { sessionId, mail: outcome.mail })
  }
  return outcome
}

/** If notes are erased faster than they are read, the next refresh shows the rest. */
const ROUNDS_MAX = 4

async function takeBack(
  store: MemoryStore,
  request: { readonly sessionId: SessionId; readonly mail: MailNumber },
): Promise<void> {
  if ((await store.withdraw(request)).kind === 'withdrawn') return
  // The block is already shown: it is erased, and the next one replaces it.
  const { sessionId, mail } = request
  const pin = (await store.findSession(sessionId))?.pins[NOTES_PIN]
  if (pin === undefined) return
  const body = { entries: [pin.entry], reason: 'notes were erased' }
  const asked = { source: 'purge', key: `${sessionId}-shown-${mail}`, control: 'erase', tokens: 0 }
  await store.admit({ to: { sessionId }, lane: 'control', ...asked, body })
}

/** The shown block; undefined while pending mail may change it. */
async function readVisibleBlock(
  store: MemoryStore,
  sessionId: SessionId,
): Promise<string | null | undefined> {
  const session = await store.findSession(sessionId)
  if (session === undefined || session.pending.control > 0) return undefined
  const pin = session.pins[NOTES_PIN]
  if (pin === undefined) return null
  const [entry] = await store.readEntries({ sessionId, from: pin.entry, to: pin.entry })
  return entry?.body == null ? undefined : (JSON.parse(entry.body) as string)
}

async function show(
  parts: MemoryParts,
  call: Omit<ToolCall, 'input'>,
  done: string,
): Promise<ToolAnswer> {
  const outcome = await refreshMemory(parts, call)
  // The note is stored; a failure here would make the agent note it again. A later message shows
  // it.
  if (outcome === null || outcome.kind === 'full') return ok(done)
  return answerTo(outcome, done)
}

function idsOf(notes: readonly NoteRow[]): string {
  return notes.map(({ id, text }) => `${id} (${clip(text, 30)})`).join(', ') || 'none'
}

function denial(entry: Entry): string {
  const words = clip(oneLine(entryText(entry)), 200)
  return (
    'Not noted: this conversation does hold it. ' +
    `${entryLabel(entry)}: ${words}\nRead it with recall (from: ${entry.number}) first.`
  )
}
