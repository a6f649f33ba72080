import { randomUUID } from 'node:crypto'
import { setImmediate as breathe } from 'node:timers/promises'
import { entryNumber, type SessionId } from '#core/base/ids'
import { isObject } from '#core/base/json'
import { oneLine } from '#core/base/line'
import { findRules } from '#core/compaction/rules/find-rules'
import { keepRules, type SaidRules } from '#core/compaction/rules/keep-rules'
import { NOTES_PIN } from '#core/message/handoff/pinned'
import { buildContext, type Context } from '#core/session/context/build'
import { LIST_MAX } from '#core/store/bounds'
import type { Store } from '#core/store/contract'
import { parseBody } from '#core/store/integrity/damaged-row'
import type { NoteRow } from '#core/store/operational-rows'
import type { Entry } from '#core/store/tables/rows'
import { memoryBlock } from '../../tools/memory/block.ts'
import { MEMORY_TOKENS_MAX, refreshMemory } from '../../tools/memory/memory.ts'
import { readNotes } from '../../tools/memory/visible.ts'
import { findOwnSchedule, isReminder, reminderText } from '../../tools/schedule/schedule.ts'
import type { MemoryView, NoteChange, SessionMemory, TaskList } from '../memory-view.ts'
import { pinsIn, tasksIn } from './views.ts'

/**
 * The memory of an agent as one session reaches it: its own pins, tasks, instructions and reminders,
 * and the notes of its scope, or of all scopes if the agent shares them. A note that a person changes
 * keeps its origin, so that erasing the origin still removes the note.
 */
export interface MemoryDependencies {
  readonly store: Store
  readonly sharesNotes: (agent: string) => boolean
  readonly notesTokensMax: (agent: string) => number | undefined
  readonly countText: (sessionId: SessionId, text: string) => number
  readonly wake: (sessionId: SessionId) => void
}

/** Every change of the notes repeats the whole block. */
const CHANGES_MAX = 20

export function openMemory(deps: MemoryDependencies, sessionId: SessionId): SessionMemory {
  const { store } = deps
  return {
    read: () => readMemory(deps, sessionId),
    changeNote: ({ id, text }) =>
      change(deps, { sessionId, id }, (note, all) =>
        replaceNote(deps, { sessionId, note, all, text }),
      ),
    removeNote: (id) =>
      change(deps, { sessionId, id }, async (note) => ({
        kind: (await store.removeNote(note)).kind,
      })),
    async cancelReminder(id) {
      const row = await findOwnSchedule(store, sessionId, id)
      if (row === undefined || !isReminder(row) || row.state !== 'waiting') {
        return { kind: 'unknown' }
      }
      const { kind } = await store.cancelSchedule({ id })
      return { kind }
    },
  }
}

async function change(
  deps: MemoryDependencies,
  { sessionId, id }: { readonly sessionId: SessionId; readonly id: string },
  run: (note: NoteRow, all: readonly NoteRow[]) => Promise<NoteChange>,
): Promise<NoteChange> {
  const { store, sharesNotes, countText: countTokens, wake } = deps
  const session = await store.findSession(sessionId)
  if (session === undefined) return { kind: 'unknown' }
  const { agent, pins, pending } = session
  const isShared = sharesNotes(agent)
  const notes = await readNotes(store, session, { isShared })
  const note = notes.find((each) => each.id === id)
  if (note === undefined) return { kind: 'unknown' }
  const changed = await run(note, notes)
  // A session without the notes block gets it before its next turn, like other sessions.
  const isShown = pins[NOTES_PIN] !== undefined || pending.control > 0
  if (changed.kind !== 'done' || !isShown) return changed
  const target = { sessionId, agent, key: `memory-${randomUUID()}` }
  const outcome = await refreshMemory({ store, countTokens, isShared }, target)
  if (outcome?.kind === 'admitted') wake(sessionId)
  return changed
}

async function replaceNote(
  { store, countText, notesTokensMax }: MemoryDependencies,
  request: {
    readonly sessionId: SessionId
    readonly note: NoteRow
    readonly all: readonly NoteRow[]
    readonly text: string
  },
): Promise<NoteChange> {
  const { sessionId, note, all, text } = request
  const { at: _, ...kept } = note
  const changed = { ...kept, text: oneLine(text) }
  const block = memoryBlock(all.map((each) => (each === note ? changed : each))) ?? ''
  const tokens = countText(sessionId, block)
  const limit = notesTokensMax(note.agent) ?? MEMORY_TOKENS_MAX
  if (tokens > limit) return { kind: 'no-room', tokens, limit }
  const outcome = await store.putNote({ ...changed, replaces: true })
  switch (outcome.kind) {
    case 'noted':
      return { kind: 'done' }
    case 'unknown':
    case 'gone':
      return { kind: outcome.kind }
    // Unreachable: the request schema limits the text to that of a note, and the note already
    // existed.
    case 'full':
    case 'too-large':
      throw new Error(`A changed note was refused: ${outcome.kind}.`)
    default:
      return outcome satisfies never
  }
}

async function readMemory(
  { store, sharesNotes }: MemoryDependencies,
  sessionId: SessionId,
): Promise<MemoryView | undefined> {
  const source = await store.readContext({ sessionId })
  if (source === null) return undefined
  const { session, limits, entries } = source
  const context = buildContext(source, limits, session.tail)
  const list = entries.findLast(({ kind }) => kind === 'task')
  const isShared = sharesNotes(session.agent)
  const [notes, rows, rules, changes] = await Promise.all([
    readNotes(store, session, { isShared }),
    store.listSchedules({ sessionId, state: 'waiting', limit: LIST_MAX }),
    rulesOf(context),
    readChanges(store, sessionId, session.tail),
  ])
  return {
    notes: notes.map(({ id, text, origin, at }) => ({
      ...{ id, text, at },
      origin: origin && { sessionId: origin.sessionId, entry: origin.number },
    })),
    pins: pinsIn(source),
    tasks: tasksIn(list, context),
    tasksEntry: list?.number ?? null,
    rules,
    reminders: rows
      .filter(isReminder)
      .toSorted((a, b) => a.dueAt - b.dueAt)
      .map((row) => {
        const { id, dueAt, repeat, at } = row
        return { id, text: reminderText(row), dueAt, repeat, at }
      }),
    changes,
  }
}

/** The agent's task list, as a compaction would keep it. */
export async function readTasks(
  store: Pick<Store, 'readContext'>,
  sessionId: SessionId,
): Promise<TaskList | undefined> {
  const source = await store.readContext({ sessionId })
  if (source === null) return undefined
  const newest = source.entries.findLast(({ kind }) => kind === 'task')
  return { tasks: tasksIn(newest, buildContext(source, source.limits, source.session.tail)) }
}

async function rulesOf({ handoff, pieces }: Context): Promise<MemoryView['rules']> {
  const said: SaidRules[] = []
  for (const { message, number, isNote } of pieces) {
    if (message.role !== 'user' || isNote) continue
    said.push({ message, number, found: findRules(message) })
    await breathe()
  }
  const earlier = handoff?.message.role === 'handoff' ? handoff.message.handoff : undefined
  const rules = keepRules({
    ...{ said, tokensMax: Number.POSITIVE_INFINITY, countTokens: (text) => text.length },
    ...(earlier !== undefined && { earlier }),
  })
  return rules.map(({ text, number, supersededBy = null }) => ({
    ...{ text, supersededBy },
    entry: number,
  }))
}

async function readChanges(
  store: Store,
  sessionId: SessionId,
  to: Entry['number'],
): Promise<MemoryView['changes']> {
  const newest: Entry[] = []
  for (const kind of ['pin', 'task'] as const) {
    let from = entryNumber(1)
    let page: readonly Entry[]
    do {
      page = await store.readEntries({ sessionId, from, to, kind })
      newest.push(...page.slice(-CHANGES_MAX))
      from = entryNumber((page.at(-1)?.number ?? to) + 1)
    } while (page.length === LIST_MAX && from <= to)
  }
  return newest
    .toSorted((a, b) => b.number - a.number)
    .slice(0, CHANGES_MAX)
    .map(changeOf)
}

function changeOf(entry: Entry): MemoryView['changes'][number] {
  const { number, at } = entry
  const body = parseBody('entry', entry)
  if (entry.kind !== 'pin') {
    const tasks = isObject(body) && Array.isArray(body['tasks']) ? body['tasks'] : null
    const lines = tasks?.filter(isObject).map(({ content, status }) => `${content} (${status})`)
    return { entry: number, at, kind: 'tasks', name: null, text: lines?.join('\n') ?? null }
  }
  const { name } = entry.meta
  const text = typeof body === 'string' ? body : null
  if (name === NOTES_PIN) return { entry: number, at, kind: 'notes', name: null, text }
  return { entry: number, at, kind: 'pin', name, text }
}
