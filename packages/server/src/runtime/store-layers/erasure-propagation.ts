import { type EntryNumber, entryNumber, type SessionId } from '#core/base/ids'
import { NOTES_PIN, pinnedText } from '#core/message/handoff/pinned'
import { LIST_MAX, NOTES_MAX } from '#core/store/bounds'
import type { Store } from '#core/store/contract'
import { parseBody } from '#core/store/integrity/damaged-row'
import type { Entry, SessionRow } from '#core/store/tables/rows'
import {
  blockMayRepeat,
  type EntriesToForget,
  mayRepeat,
  memoryBlock,
} from '../../tools/memory/block.ts'
import { MEMORY_TOOL } from '../../tools/memory/memory.ts'
import { readNotes } from '../../tools/memory/visible.ts'
import { ask, askToErase, readControls } from '../sessions/control-requests.ts'
import { forgetReminders } from './reminder-erasure.ts'

/**
 * Erasure follows text into notes and reminders. A note made from an erased entry appears in the
 * notes block of every session of the agent: in the entries that set the block and in mail that is
 * about to. Each such session is requested to erase those and to show the current notes. Reminders
 * that the entry requested are erased as well. All of this is requested before the entries
 * themselves are erased, so after a crash in between, the pending request for the erasure repeats
 * it. The cost depends on the number of erased entries and notes, and on the length of the
 * transcript only if reminders were sent.
 */
export interface ErasureParts {
  readonly store: Store
  /** Absent: no agent shares its notes. */
  readonly sharesNotes?: (agent: string) => boolean
  readonly countTokens: (sessionId: SessionId, text: string) => number
}

/** Sessions read concurrently, so that 10,000 of them do not wait for each other. */
const SESSIONS_AT_ONCE = 32
/** Past the last entry of any session, to include entries added since its row was read. */
const ANY_TAIL = entryNumber(2 ** 31 - 1)

/** Wraps the store so that erasures also reach notes and reminders. */
export function propagateErasure(parts: ErasureParts): Store {
  const { store } = parts
  return {
    ...store,
    async eraseEntries(request) {
      const { sessionId } = request.lease
      const erased = await readErased(store, sessionId, request.entries)
      if (await mayBeNoted(store, sessionId, erased)) {
        await forgetNotes(parts, { sessionId, entries: new Set(request.entries) })
      }
      const schedules = await forgetReminders(store, sessionId, erased)
      return await store.eraseEntries({ ...request, schedules })
    },
  }
}

/** Throws ControlNotAdmittedError if a mailbox accepts nothing now. */
export async function forgetNotes(parts: ErasureParts, forgotten: EntriesToForget): Promise<void> {
  const { store } = parts
  const source = await store.findSession(forgotten.sessionId)
  if (source === undefined) return
  const { agent, scope } = source
  for (const note of await store.listNotes({ agent, scope, limit: NOTES_MAX })) {
    if (mayRepeat(note, forgotten)) await store.removeNote(note)
  }
  let after: SessionId | undefined
  do {
    const query = { agent, state: 'open', limit: LIST_MAX, ...(after && { after }) } as const
    const page = await store.listSessions(query)
    for (let first = 0; first < page.length; first += SESSIONS_AT_ONCE) {
      const some = page.slice(first, first + SESSIONS_AT_ONCE)
      await Promise.all(some.map((session) => forgetIn(parts, session, forgotten)))
    }
    after = page.length < LIST_MAX ? undefined : page.at(-1)?.id
  } while (after !== undefined)
}

/** Notes come from tool calls and from proposals before compactions; pins create none. */
async function mayBeNoted(
  store: Store,
  sessionId: SessionId,
  erased: readonly Entry[],
): Promise<boolean> {
  const isCompacted = (await store.listOperations({ sessionId, limit: 1 })).length > 0
  return erased.some(
    ({ kind, body }) =>
      kind !== 'pin' && (isCompacted || body === null || body.includes(MEMORY_TOOL)),
  )
}

/** Reads runs of adjacent entries and nothing between them. */
async function readErased(
  store: Store,
  sessionId: SessionId,
  numbers: readonly EntryNumber[],
): Promise<readonly Entry[]> {
  const erased: Entry[] = []
  const rest = [...new Set(numbers)].sort((a, b) => a - b)
  for (let from = rest.shift(); from !== undefined; from = rest.shift()) {
    let to = from
    for (; rest[0] === to + 1 && to - from < LIST_MAX - 1; rest.shift()) to = rest[0]
    erased.push(...(await store.readEntries({ sessionId, from, to })))
  }
  return erased
}

async function forgetIn(
  parts: ErasureParts,
  { id: sessionId, agent, pending }: SessionRow,
  forgotten: EntriesToForget,
): Promise<void> {
  const { store, countTokens, sharesNotes = () => false } = parts
  const waiting = pending.control === 0 ? [] : await readControls(store, sessionId)
  const tainted = waiting.filter(
    ({ pin }) => pin?.name === NOTES_PIN && blockMayRepeat(pin.text, forgotten),
  )
  // Mail taken in the meantime is found below, as an entry.
  for (const { mail } of tainted) await store.withdraw({ sessionId, mail })
  const entries = await findBlocks(store, sessionId, forgotten)
  // For most sessions of an agent, nothing more is read.
  if (entries.length === 0 && tainted.length === 0) return
  const session = await store.findSession(sessionId)
  if (session === undefined) return
  const pinEntry = session.pins[NOTES_PIN]?.entry
  const isAsked = waiting.some(({ erases }) => pinEntry !== undefined && erases.includes(pinEntry))
  const isVisible = pinEntry !== undefined && entries.includes(pinEntry) && !isAsked
  if (isVisible || tainted.length > 0) {
    const isShared = sharesNotes(agent)
    // The notes of a fork are removed only with the entries themselves.
    const kept = (await readNotes(store, session, { isShared })).filter(
      (note) => !mayRepeat(note, forgotten),
    )
    const text = memoryBlock(kept)
    const tokens = text === null ? 0 : countTokens(sessionId, pinnedText(NOTES_PIN, text))
    await ask(store, sessionId, { control: 'pin', body: { name: NOTES_PIN, text }, tokens })
  }
  await askToErase(store, sessionId, entries, 'noted from elsewhere')
}

/** The entries of a session that set a notes block which may repeat erased text. */
async function findBlocks(
  store: Store,
  sessionId: SessionId,
  forgotten: EntriesToForget,
): Promise<readonly EntryNumber[]> {
  const found: EntryNumber[] = []
  for (let from = 1; ; ) {
    const range = { sessionId, from: entryNumber(from), to: ANY_TAIL, kind: 'pin' } as const
    const pins = await store.readEntries(range)
    for (const entry of pins) {
      const block = blockIn(entry)
      if (block !== null && blockMayRepeat(block, forgotten)) found.push(entry.number)
    }
    if (pins.length < LIST_MAX) return found
    from = (pins.at(-1)?.number ?? ANY_TAIL) + 1
  }
}

function blockIn(entry: Entry): string | null {
  if (entry.kind !== 'pin' || entry.meta.name !== NOTES_PIN || entry.body === null) return null
  const text = parseBody('entry', entry)
  return typeof text === 'string' ? text : null
}
